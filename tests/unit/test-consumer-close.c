/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Closing a consumer, without anybody at the other end. */

static ArenaConsumer *
new_consumer (void)
{
  return arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
}

static void
test_timeout (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_consumer_close (consumer, -2, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "-2");
  g_assert_cmpint (arena_consumer_get_state (consumer), ==, ARENA_CONSUMER_STATE_IDLE);
  g_object_unref (consumer);
}

static void
test_closed (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    g_assert_true (arena_consumer_close (consumer, -1, NULL, NULL));
  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_false (arena_consumer_start (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_false (arena_consumer_stop (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_cmpint (arena_consumer_dup_worker_fd (consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  arena_stats_free (arena_consumer_dup_stats (consumer));
  g_object_unref (consumer);
}

static gpointer
close_later (gpointer data)
{
  g_usleep (30000);
  g_assert_true (arena_consumer_close (data, -1, NULL, NULL));
  return NULL;
}

/* Protocol 2.5: closing is for any thread, and ends a wait on another. */
static void
test_close_ends_a_wait (void)
{
  ArenaConsumer *consumer = new_consumer ();
  GThread *thread = g_thread_new ("close", close_later, consumer);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_thread_join (thread);
  g_object_unref (consumer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/consumer/close/timeout", test_timeout);
  arena_test_add ("/arena/consumer/close/again", test_closed);
  arena_test_add ("/arena/consumer/close/ends-a-wait", test_close_ends_a_wait);
  return g_test_run ();
}
