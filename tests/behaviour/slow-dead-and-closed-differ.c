/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include "sync/arena-timing-private.h"

/* F137, F139, C58: a slow producer is a wait with one line in the log, a dead one and a closed boundary are errors of
 * their own, and no default deadline turns a pause into a failure. */

static ArenaConsumer *
new_consumer (ArenaProducer **producer)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 2), 1);

  *producer = arena_test_producer_new (consumer);
  arena_test_log_forget ();
  return consumer;
}

static gpointer
send_later (gpointer data)
{
  g_usleep (200000);
  arena_test_wait_iteration (data);
  g_assert_true (arena_test_send (data, 8192, -1, NULL));
  return NULL;
}

static void
test_slow (void)
{
  ArenaProducer *producer;
  ArenaConsumer *consumer = new_consumer (&producer);
  GThread *thread = g_thread_new ("send", send_later, producer);
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = arena_consumer_next (consumer, -1, NULL, &error);

  g_assert_no_error (error);
  arena_test_assert_unit (unit, 8192);
  g_thread_join (thread);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_MASK, NULL), ==, 1);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, "Waiting for the next unit"), ==, 1);
  g_object_unref (producer);
  arena_test_close (consumer, NULL);
}

static gpointer
drop_later (gpointer data)
{
  g_usleep (30000);
  g_object_unref (data);
  return NULL;
}

static void
test_dead (void)
{
  ArenaProducer *producer;
  ArenaConsumer *consumer = new_consumer (&producer);
  GThread *thread = g_thread_new ("drop", drop_later, producer);
  gint64 started = g_get_monotonic_time ();

  arena_test_assert_gone (consumer, "The producer is gone");
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
  g_thread_join (thread);
  arena_test_close (consumer, NULL);
}

static gpointer
close_later (gpointer data)
{
  g_usleep (30000);
  g_assert_true (arena_consumer_close (data, -1, NULL, NULL));
  return NULL;
}

static void
test_closed (void)
{
  ArenaProducer *producer;
  ArenaConsumer *consumer = new_consumer (&producer);
  GThread *thread = g_thread_new ("close", close_later, consumer);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "closed");
  g_thread_join (thread);
  g_object_unref (producer);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.stall_log = 50000;
  arena_test_add ("/arena/boundary/differ/slow", test_slow);
  arena_test_add ("/arena/boundary/differ/dead", test_dead);
  arena_test_add ("/arena/boundary/differ/closed", test_closed);
  return g_test_run ();
}
