/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 5.4: by default a starving wait goes on, since another thread may release. */

static gpointer
release_later (gpointer data)
{
  g_usleep (100000);
  g_bytes_unref (data);
  return NULL;
}

static void
test_other_thread (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 1), 1);
  ArenaTestSeries series = { .n_units = 3, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaUnit *unit = arena_test_next (consumer);
  GBytes *bytes = arena_test_dup_bytes (unit);
  gint64 started = g_get_monotonic_time ();
  GThread *thread;

  g_object_unref (unit);
  thread = g_thread_new ("release", release_later, bytes);
  arena_test_receive (consumer, 1, 8192);
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 50000);
  g_assert_cmpint (g_get_monotonic_time () - started, <, 2 * G_USEC_PER_SEC);
  g_thread_join (thread);
  arena_test_receive (consumer, 1, 8192);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/boundary/starved/another-thread", test_other_thread);
  return g_test_run ();
}
