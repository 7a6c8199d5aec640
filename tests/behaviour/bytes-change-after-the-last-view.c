/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F06: the budget is what was asked for, from the constructor to the end, and the rule for a pool's bytes is one: they
 * may be overwritten once the last view is gone, and not before. */

#define SIZE 8192

static void
assert_budget (ArenaBackend *backend)
{
  g_autoptr(ArenaStats) stats = arena_pool_dup_stats (ARENA_POOL (backend));

  g_assert_cmpuint (arena_stats_get_reserved_bytes (stats), ==, SIZE);
  g_assert_cmpuint (arena_stats_get_occupancy (stats), <=, SIZE);
}

static void
test (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (SIZE, 1);
  ArenaConsumer *consumer = arena_test_consumer_new (g_object_ref (backend), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(GBytes) kept = NULL, next = NULL;
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) error = NULL;
  gconstpointer place;

  assert_budget (backend);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  unit = arena_test_next (consumer);
  kept = arena_test_dup_bytes (unit);
  g_clear_object (&unit);
  place = g_bytes_get_data (kept, NULL);

  for (guint i = 0; i < 3; i++)
    {
      g_assert_false (arena_test_send (producer, SIZE, 0, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
      g_assert_true (arena_test_check_bytes (kept, 0));
      assert_budget (backend);
    }

  g_clear_pointer (&kept, g_bytes_unref);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  unit = arena_test_next (consumer);
  next = arena_test_dup_bytes (unit);
  g_assert_true (g_bytes_get_data (next, NULL) == place);
  g_assert_true (arena_test_check_bytes (next, 1));
  assert_budget (backend);
  g_clear_pointer (&next, g_bytes_unref);
  g_clear_object (&unit);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/bytes-change-after-the-last-view", test);
  return g_test_run ();
}
