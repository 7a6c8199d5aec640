/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F186, protocol 5.4: a try never blames anybody: WOULD_BLOCK, whatever starve-timeout says. */
static void
test_try (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 1), 1);
  ArenaTestSeries series = { .n_units = 3, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaUnit *unit = arena_test_next (consumer);
  g_autoptr(GError) error = NULL;

  for (gint64 timeout = -1; timeout <= 0; timeout++)
    {
      arena_consumer_set_starve_timeout (consumer, timeout);
      for (guint i = 0; i < 10; i++)
        {
          g_usleep (2000);
          g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
        }
    }

  g_object_unref (unit);
  arena_test_receive (consumer, 2, 8192);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/boundary/starved/try", test_try);
  return g_test_run ();
}
