/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* H9: in order, a consumer that keeps only one unit starves its producer once the others have gone round. The claim is
 * exact: it is not made before, and it says which unit is meant. */
static void
test_one_segment (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 3), 1);
  ArenaTestSeries series = { .n_units = 10, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  g_autoptr(ArenaUnit) kept = NULL;
  g_autoptr(GError) error = NULL;

  arena_consumer_set_starve_timeout (consumer, 0);
  arena_test_receive (consumer, 1, 8192);
  kept = arena_test_next (consumer);
  arena_test_receive (consumer, 2, 8192);

  for (guint i = 0; i < 3; i++)
    {
      g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Unit 1 is held here", "the segment of unit 1");
    }

  arena_test_assert_unit (kept, 8192);
  g_clear_object (&kept);
  arena_test_receive (consumer, 6, 8192);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/starved/one-segment", test_one_segment);
  return g_test_run ();
}
