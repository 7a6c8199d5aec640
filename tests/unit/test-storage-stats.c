/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "backend/arena-stats-private.h"
#include "base/arena-error-private.h"

static void
test_pool (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (ArenaStats) before = NULL;
  g_autoptr (ArenaStats) full = NULL;
  g_autoptr (ArenaStats) after = NULL;
  ArenaSent first, second;
  GBytes *view;

  arena_ends_open_pool (&ends, 4096, 3);
  before = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (before->reserved_bytes, ==, 3 * 4096);
  g_assert_cmpuint (before->resident_bytes, <=, 3 * 4096);
  g_assert_cmpuint (before->occupancy + before->units + before->held_units + before->peak_occupancy, ==, 0);

  first = arena_ends_send (&ends, 100, 1);
  second = arena_ends_send (&ends, 50, 2);
  view = arena_ends_take (&ends, &first);
  full = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (full->units, ==, 1);
  g_assert_cmpuint (full->bytes, ==, 100);
  g_assert_cmpuint (full->held_units, ==, 1);
  g_assert_cmpuint (full->occupancy, ==, 2 * 4096);
  g_assert_cmpuint (full->peak_occupancy, ==, 2 * 4096);
  g_assert_cmpuint (full->output_bytes, ==, 0);

  g_bytes_unref (view);
  arena_ends_pass (&ends, &second);
  after = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (after->units, ==, 2);
  g_assert_cmpuint (after->bytes, ==, 150);
  g_assert_cmpuint (after->held_units, ==, 0);
  g_assert_cmpuint (after->occupancy, ==, 0);
  g_assert_cmpuint (after->peak_occupancy, ==, 2 * 4096);
}

/* F15: what is kept is counted apart from what the ring holds. */
static void
test_ring (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (ArenaStats) kept = NULL;
  g_autoptr (ArenaStats) after = NULL;
  GBytes *copies[10];

  arena_ends_open_ring (&ends, 4096);
  for (guint i = 0; i < G_N_ELEMENTS (copies); i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 4000, i);

      copies[i] = arena_ends_take (&ends, &sent);
    }

  kept = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (kept->units, ==, 10);
  g_assert_cmpuint (kept->bytes, ==, 40000);
  g_assert_cmpuint (kept->held_units, ==, 0);
  g_assert_cmpuint (kept->occupancy, ==, 0);
  g_assert_cmpuint (kept->peak_occupancy, ==, 4032);
  g_assert_cmpuint (kept->output_bytes, >=, 40000);

  for (guint i = 0; i < G_N_ELEMENTS (copies); i++)
    g_bytes_unref (copies[i]);
  after = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (after->output_bytes, <=, 2 * 4096);
}

static void
test_waits (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (ArenaStats) stats = NULL;
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, 4096, 1);
  arena_ends_fill (&ends, 10);
  g_assert_false (arena_writer_begin_unit (ends.writer, 1, 300000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  stats = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (stats->producer_waits, >, 0);
  g_assert_cmpint (stats->producer_wait_time, >=, 10000);
  g_assert_cmpint (stats->producer_wait_time, <, 2000000);
}

/* F80: how many units still had live views. */
static void
test_closed (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (ArenaStats) held = NULL;
  g_autoptr (ArenaStats) none = NULL;
  ArenaSent sent;
  GBytes *view;

  arena_ends_open_pool (&ends, 4096, 2);
  sent = arena_ends_send (&ends, 10, 1);
  view = arena_ends_take (&ends, &sent);
  arena_backend_close (ends.backend, NULL);
  held = arena_pool_dup_stats (ARENA_POOL (ends.backend));
  g_assert_cmpuint (held->units, ==, 1);
  g_assert_cmpuint (held->held_units, ==, 1);
  g_assert_cmpuint (held->reserved_bytes, ==, 0);
  g_bytes_unref (view);
  none = arena_pool_dup_stats (ARENA_POOL (ends.backend));
  g_assert_cmpuint (none->held_units, ==, 0);
}

/* The producer's words are only numbers to show: wild ones stay in bounds. */
static void
test_wild_words (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (ArenaStats) stats = NULL;

  arena_ends_open_pool (&ends, 4096, 2);
  atomic_store (&ends.storage->channel->cp->committed, G_MAXUINT64);
  stats = arena_storage_dup_stats (ends.storage);
  g_assert_cmpuint (stats->occupancy, ==, 2 * 4096);
}

static int
take_in_child (gpointer storage)
{
  g_autoptr (ArenaStats) stats = arena_storage_dup_stats (storage);

  return stats->units == 0 && stats->reserved_bytes == 0 ? 0 : 1;
}

static void
test_forked (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;

  arena_ends_open_pool (&ends, 4096, 2);
  sent = arena_ends_send (&ends, 10, 1);
  arena_ends_pass (&ends, &sent);
  arena_test_assert_child (take_in_child, ends.storage);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/storage/stats/pool", test_pool);
  arena_test_add ("/arena/storage/stats/ring", test_ring);
  arena_test_add ("/arena/storage/stats/producer-waits", test_waits);
  arena_test_add ("/arena/storage/stats/closed-counts-live-views", test_closed);
  arena_test_add ("/arena/storage/stats/wild-words-stay-in-bounds", test_wild_words);
  arena_test_add ("/arena/storage/stats/zeros-in-a-child", test_forked);
  return g_test_run ();
}
