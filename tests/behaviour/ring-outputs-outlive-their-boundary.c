/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F13, F15: results of a ring are the consumer's own. Keeping 1000 of them stalls nobody, and they need no arena. */
static void
test_keep (void)
{
  const guint n = 1000;
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_ring_new (4 * 8192), 2);
  ArenaTestSeries series = { .n_units = n, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr(ArenaStats) stats = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

      g_ptr_array_add (kept, arena_test_dup_bytes (unit));
    }
  arena_test_assert_end (consumer);
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_held_units (stats), ==, 0);
  g_assert_cmpuint (arena_stats_get_output_bytes (stats), >=, n * 8192);
  arena_test_close (consumer, producer);

  g_assert_cmpuint (arena_test_count_mappings (), ==, 0);
  for (guint i = 0; i < n; i++)
    g_assert_true (arena_test_check_bytes (kept->pdata[i], i));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/ring-outputs", test_keep);
  return g_test_run ();
}
