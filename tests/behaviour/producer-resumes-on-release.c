/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F65, F104, F105: without a deadline a producer waits as long as its consumer lives, and goes on the moment there is
 * room. With one it gives up in time, and can try again. */

static gpointer
send_one (gpointer data)
{
  g_autoptr(GError) error = NULL;
  gint64 *sent = g_new (gint64, 1);

  g_assert_true (arena_test_send (data, 8192, -1, &error));
  *sent = g_get_monotonic_time ();
  return sent;
}

static void
run (ArenaBackend *backend,
     guint         buffer_size,
     guint         n_sent,
     gboolean      hold)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, buffer_size);
  ArenaProducer *producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) held = NULL;
  g_autofree gint64 *sent = NULL;
  g_autoptr(GError) error = NULL;
  gint64 started, released;
  GThread *thread;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < n_sent; i++)
    g_assert_true (arena_test_send (producer, 8192, 0, NULL));
  if (hold)
    held = arena_test_next (consumer);

  started = g_get_monotonic_time ();
  g_assert_false (arena_test_send (producer, 8192, 50000, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 40000);
  g_assert_cmpint (g_get_monotonic_time () - started, <, 2 * G_USEC_PER_SEC);

  thread = g_thread_new ("send", send_one, producer);
  g_usleep (100000);
  released = g_get_monotonic_time ();
  if (hold)
    g_clear_object (&held);
  else
    held = arena_test_next (consumer);
  sent = g_thread_join (thread);
  g_assert_cmpint (*sent, >=, released);
  g_assert_cmpint (*sent, <, released + 2 * G_USEC_PER_SEC);
  g_object_unref (producer);
  arena_test_close (consumer, NULL);
}

static void
test_segment (void)
{
  run (arena_test_pool_new (8192, 1), 2, 1, TRUE);
}

static void
test_span (void)
{
  run (arena_test_ring_new (8192), 2, 1, FALSE);
}

static void
test_room (void)
{
  run (arena_test_pool_new (8192, 4), 2, 2, FALSE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/resumes/segment", test_segment);
  arena_test_add ("/arena/boundary/resumes/span", test_span);
  arena_test_add ("/arena/boundary/resumes/room", test_room);
  return g_test_run ();
}
