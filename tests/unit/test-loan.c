/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "backend/arena-loan-private.h"

#include <poll.h>
#include <string.h>

static gboolean
is_woken (ArenaEnds *ends)
{
  struct pollfd event = { .fd = ends->storage->channel->wake_producer, .events = POLLIN };

  return poll (&event, 1, 0) == 1;
}

static void
test_counts (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaLoan *loan;
  GBytes *a, *b;

  arena_ends_open_pool (&ends, 4096, 2);
  loan = arena_loan_new (ends.storage, ends.storage->data, 1, 17);
  g_assert_cmpuint (arena_loan_get_position (loan), ==, 1);
  g_assert_false (arena_loan_is_lent (loan));

  a = arena_loan_lend (loan, arena_mapping_get_data (ends.storage->data), 10, 0);
  b = arena_loan_lend (loan, arena_mapping_get_data (ends.storage->data) + 64, 10, 1);
  g_bytes_unref (a);
  g_assert_true (arena_loan_is_lent (loan));
  g_bytes_unref (b);
  g_assert_false (arena_loan_is_lent (loan));
  arena_loan_unref (loan);
}

static void
assert_described (ArenaLoan  *loan,
                  const char *expected)
{
  g_autofree char *text = arena_loan_describe (loan);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_describe (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaLoan *loan;
  GBytes *bytes[3];
  const guint fields[] = { 2, 5, 1000 };

  arena_ends_open_pool (&ends, 4096, 1);
  loan = arena_loan_new (ends.storage, ends.storage->data, 0, 17);
  for (guint i = 0; i < 3; i++)
    bytes[i] = arena_loan_lend (loan, arena_mapping_get_data (ends.storage->data), 1, fields[i]);

  assert_described (loan, "field 2 of unit 17 is still lent out");
  g_bytes_unref (bytes[0]);
  assert_described (loan, "field 5 of unit 17 is still lent out");
  g_bytes_unref (bytes[1]);
  assert_described (loan, "field 63 or a later one of unit 17 is still lent out");
  g_bytes_unref (bytes[2]);
  arena_loan_unref (loan);
}

/* The arena may be closed and dropped under it. */
static void
test_keeps_mapping (void)
{
  ArenaEnds ends = { 0 };
  ArenaLoan *loan;
  GBytes *bytes;
  guint8 *data;

  arena_ends_open_pool (&ends, 4096, 1);
  data = arena_mapping_get_data (ends.storage->data);
  loan = arena_loan_new (ends.storage, ends.storage->data, 0, 0);
  bytes = arena_loan_lend (loan, data, 4096, 0);
  arena_loan_unref (loan);
  arena_backend_close (ends.backend, NULL);
  arena_ends_clear (&ends);

  memset (data, 7, 4096);
  g_assert_cmpuint (((const guint8 *) g_bytes_get_data (bytes, NULL))[4095], ==, 7);
  g_bytes_unref (bytes);
}

/* H7: the last drop wakes a producer that is armed, and no other. */
static void
check_wakes (ArenaEnds *ends,
             ArenaWord *word,
             guint64    armed)
{
  ArenaLoan *loan = arena_loan_new (ends->storage, ends->storage->data, 0, 0);
  guint8 *data = arena_mapping_get_data (ends->storage->data);
  GBytes *a, *b;

  g_bytes_unref (arena_loan_lend (loan, data, 1, 0));
  g_assert_false (is_woken (ends));

  a = arena_loan_lend (loan, data, 1, 0);
  b = arena_loan_lend (loan, data, 1, 1);
  atomic_store (word, armed);
  g_bytes_unref (a);
  g_assert_false (is_woken (ends));
  g_bytes_unref (b);
  g_assert_true (is_woken (ends));
  arena_loan_unref (loan);
}

static void
test_wakes (void)
{
  g_auto (ArenaEnds) pool = { 0 };
  g_auto (ArenaEnds) ring = { 0 };

  arena_ends_open_pool (&pool, 4096, 1);
  check_wakes (&pool, &pool.storage->channel->cp->need, 5);
  arena_ends_open_ring (&ring, 4096);
  check_wakes (&ring, &ring.storage->channel->cp->want_released, 64);
}

static int
drop_in_child (gpointer bytes)
{
  g_bytes_unref (bytes);
  return 0;
}

static void
test_forked (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaLoan *loan;
  GBytes *bytes;

  arena_ends_open_pool (&ends, 4096, 1);
  atomic_store (&ends.storage->channel->cp->need, 5);
  loan = arena_loan_new (ends.storage, ends.storage->data, 0, 0);
  bytes = arena_loan_lend (loan, arena_mapping_get_data (ends.storage->data), 1, 0);

  /* The child has neither the control pages nor a say. */
  arena_test_assert_child (drop_in_child, bytes);
  g_assert_false (is_woken (&ends));
  g_assert_true (arena_loan_is_lent (loan));
  g_bytes_unref (bytes);
  arena_loan_unref (loan);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/loan/lent-until-the-last-drop", test_counts);
  arena_test_add ("/arena/loan/names-unit-and-field", test_describe);
  arena_test_add ("/arena/loan/keeps-the-mapping", test_keeps_mapping);
  arena_test_add ("/arena/loan/last-drop-wakes-an-armed-producer", test_wakes);
  arena_test_add ("/arena/loan/drop-in-a-child-touches-nothing", test_forked);
  return g_test_run ();
}
