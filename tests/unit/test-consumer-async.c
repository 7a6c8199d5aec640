/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

/* F161, F187: the asynchronous twins of a consumer's calls. The producer is in the same thread unless it must
 * answer. */

#define SIZE 8192

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
  ArenaTestCall  call;
} Fixture;

/* With an iteration running. */
static void
set_up (Fixture *f)
{
  *f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2) };
  f->producer = arena_test_producer_new (f->consumer);
  g_assert_true (arena_consumer_start (f->consumer, NULL));
  arena_test_wait_iteration (f->producer);
}

static void
tear_down (Fixture *f)
{
  g_clear_object (&f->producer);
  arena_test_close (f->consumer, NULL);
}

static void
send (Fixture *f)
{
  g_autoptr(GError) error = NULL;

  arena_test_send (f->producer, SIZE, 0, &error);
  g_assert_no_error (error);
}

static void
next (Fixture      *f,
      gint64        timeout,
      GCancellable *cancellable)
{
  arena_consumer_next_async (f->consumer, timeout, cancellable, arena_test_call_done, &f->call);
}

static void
assert_unit (Fixture *f)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = arena_test_call_next (&f->call, &error);

  g_assert_no_error (error);
  g_assert_nonnull (unit);
  arena_test_assert_unit (unit, SIZE);
}

static void
assert_failure (Fixture    *f,
                GQuark      domain,
                int         code,
                const char *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_test_call_next (&f->call, &error));
  arena_test_assert_error (error, domain, code, text);
}

static void
test_next (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  send (&f);
  next (&f, 0, NULL);
  g_assert_null (f.call.result);
  assert_unit (&f);

  next (&f, -1, NULL);
  arena_test_call_assert_pending (&f.call, 20);
  send (&f);
  assert_unit (&f);

  next (&f, 0, NULL);
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "the next unit");
  next (&f, 20000, NULL);
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "the next unit");
  next (&f, -2, NULL);
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "-2");

  next (&f, -1, NULL);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_assert_null (arena_test_call_next (&f.call, &error));
  g_assert_no_error (error);
  tear_down (&f);
}

static gpointer
attach_later (gpointer data)
{
  ArenaTestPeer *peer = g_new (ArenaTestPeer, 1);

  g_usleep (30000);
  arena_test_peer_init (peer, data);
  arena_test_peer_publish (peer, (ArenaSlot) { .epoch = 1, .kind = ARENA_SLOT_UNIT });
  return peer;
}

/* The call began before there was a producer, and begins the iteration. */
static void
test_answer_comes_later (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 2);
  GThread *thread = g_thread_new ("attach", attach_later, consumer);
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = arena_test_next_async (consumer, &error);
  g_autofree ArenaTestPeer *peer = g_thread_join (thread);

  g_assert_no_error (error);
  g_assert_nonnull (unit);
  arena_test_peer_clear (peer);
  g_object_unref (consumer);
}

/* F162: it counts among the waits. */
static void
test_stats (void)
{
  g_autoptr(ArenaStats) stats = NULL;
  Fixture f;

  set_up (&f);
  next (&f, -1, NULL);
  arena_test_call_assert_pending (&f.call, 20);
  send (&f);
  assert_unit (&f);
  stats = arena_consumer_dup_stats (f.consumer);
  g_assert_cmpuint (arena_stats_get_consumer_waits (stats), >=, 1);
  g_assert_cmpint (arena_stats_get_consumer_wait_time (stats), >=, 20000);
  tear_down (&f);
}

static void
test_cancel (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GThread *thread;
  gint64 cancelled_at;
  Fixture f;

  set_up (&f);
  /* During, by another thread. */
  thread = arena_test_cancel_later (cancellable, 20);
  cancelled_at = g_get_monotonic_time () + 20000;
  next (&f, -1, cancellable);
  arena_test_call_wait (&f.call);
  g_assert_cmpint (f.call.done_at - cancelled_at, <, 50000);
  assert_failure (&f, G_IO_ERROR, G_IO_ERROR_CANCELLED, "");
  arena_test_join_canceller (thread, cancellable);

  /* Before, even with something to take. */
  send (&f);
  next (&f, -1, cancellable);
  assert_failure (&f, G_IO_ERROR, G_IO_ERROR_CANCELLED, "");

  /* After: nothing is lost. */
  g_cancellable_reset (cancellable);
  next (&f, -1, cancellable);
  g_cancellable_cancel (cancellable);
  assert_unit (&f);
  tear_down (&f);
}

/* Every published unit first, whether the call began before or after the death. */
static void
test_death (void)
{
  for (guint pending = 0; pending < 2; pending++)
    {
      Fixture f;

      set_up (&f);
      if (pending == 1)
        {
          next (&f, -1, NULL);
          arena_test_call_assert_pending (&f.call, 10);
        }
      send (&f);
      send (&f);
      g_clear_object (&f.producer);
      if (pending == 1)
        assert_unit (&f);
      for (guint i = pending; i < 2; i++)
        {
          next (&f, -1, NULL);
          assert_unit (&f);
        }
      for (guint i = 0; i < 2; i++)
        {
          next (&f, -1, NULL);
          assert_failure (&f, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "");
        }
      tear_down (&f);
    }
}

static void
test_death_while_waiting (void)
{
  Fixture f;

  set_up (&f);
  next (&f, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  g_clear_object (&f.producer);
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "");
  tear_down (&f);
}

/* One waits at a time; whoever comes second says so and takes nothing. */
static void
test_busy (void)
{
  Fixture f;
  ArenaTestCall other = { NULL };
  g_autoptr(GError) error = NULL;

  set_up (&f);
  next (&f, -1, NULL);
  arena_consumer_next_async (f.consumer, -1, NULL, arena_test_call_done, &other);
  g_assert_null (arena_test_call_next (&other, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  arena_consumer_stop_async (f.consumer, -1, NULL, arena_test_call_done, &other);
  arena_test_call_wait (&other);
  g_assert_false (arena_consumer_stop_finish (f.consumer, other.result, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  arena_test_call_clear (&other);
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_false (arena_consumer_start (f.consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  send (&f);
  assert_unit (&f);

  /* And then it is free. */
  send (&f);
  g_object_unref (arena_test_next (f.consumer));
  tear_down (&f);
}

static void
test_owner_drops (void)
{
  Fixture f;

  set_up (&f);
  next (&f, -1, NULL);
  g_object_unref (f.consumer);
  arena_test_call_assert_pending (&f.call, 10);
  send (&f);
  arena_test_call_wait (&f.call);
  g_object_ref (f.consumer);
  assert_unit (&f);
  tear_down (&f);
}

/* A main loop that stops in the middle and goes on later: nothing is lost, and until then the consumer is waited on. */
static void
test_loop_stops (void)
{
  GMainContext *context = g_main_context_new ();
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_main_context_push_thread_default (context);
  next (&f, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  g_main_context_pop_thread_default (context);

  send (&f);
  send (&f);
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  arena_test_call_assert_pending (&f.call, 10);

  g_main_context_push_thread_default (context);
  assert_unit (&f);
  g_main_context_pop_thread_default (context);
  arena_test_receive (f.consumer, 1, SIZE);
  g_main_context_unref (context);
  tear_down (&f);
}

static void
test_stop (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2);
  ArenaTestSeries series = { .n_units = 50, .size = SIZE };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaTestCall call = { NULL };
  g_autoptr(GError) error = NULL;

  arena_test_receive (consumer, 1, SIZE);
  arena_consumer_stop_async (consumer, -1, NULL, arena_test_call_done, &call);
  arena_test_call_wait (&call);
  g_assert_true (arena_consumer_stop_finish (consumer, call.result, &error));
  g_assert_no_error (error);
  arena_test_call_clear (&call);
  arena_test_assert_end (consumer);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_receive (consumer, 3, SIZE);
  arena_test_close (consumer, producer);
}

/* A producer that does not answer: each way to give up, and then it does. */
static void
test_stop_waits (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  const struct { gint64 timeout; GQuark domain; int code; } cases[] = {
    { 0, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK },
    { 20000, ARENA_ERROR, ARENA_ERROR_TIMED_OUT },
    { -1, G_IO_ERROR, G_IO_ERROR_CANCELLED },
  };
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  send (&f);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      arena_consumer_stop_async (f.consumer, cases[i].timeout, cancellable, arena_test_call_done, &f.call);
      if (cases[i].timeout == -1)
        {
          arena_test_call_assert_pending (&f.call, 10);
          g_cancellable_cancel (cancellable);
        }
      arena_test_call_wait (&f.call);
      g_assert_false (arena_consumer_stop_finish (f.consumer, f.call.result, &error));
      g_assert_true (g_error_matches (error, cases[i].domain, cases[i].code));
      g_clear_error (&error);
      arena_test_call_clear (&f.call);
    }

  arena_consumer_stop_async (f.consumer, -1, NULL, arena_test_call_done, &f.call);
  arena_test_call_assert_pending (&f.call, 10);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_call_wait (&f.call);
  g_assert_true (arena_consumer_stop_finish (f.consumer, f.call.result, NULL));
  arena_test_call_clear (&f.call);
  tear_down (&f);
}

/* Closing ends a call that waits; without a process it is done at once. */
static void
test_close (void)
{
  ArenaTestCall close = { NULL };
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  next (&f, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  for (guint i = 0; i < 2; i++)
    {
      arena_consumer_close_async (f.consumer, -1, NULL, arena_test_call_done, &close);
      arena_test_call_wait (&close);
      g_assert_true (arena_consumer_close_finish (f.consumer, close.result, &error));
      g_assert_no_error (error);
      arena_test_call_clear (&close);
    }
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_CLOSED, "");
  next (&f, -1, NULL);
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_CLOSED, "");
  tear_down (&f);
}

static void
test_uninitialized (void)
{
  Fixture f = { .consumer = g_object_new (ARENA_TYPE_CONSUMER, NULL) };

  next (&f, -1, NULL);
  assert_failure (&f, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "initialization");
  arena_consumer_close_async (f.consumer, -1, NULL, arena_test_call_done, &f.call);
  arena_test_call_wait (&f.call);
  g_assert_true (arena_consumer_close_finish (f.consumer, f.call.result, NULL));
  arena_test_call_clear (&f.call);
  g_object_unref (f.consumer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/consumer/async/next", test_next);
  arena_test_add ("/arena/consumer/async/answer-comes-later", test_answer_comes_later);
  arena_test_add ("/arena/consumer/async/stats", test_stats);
  arena_test_add ("/arena/consumer/async/cancel", test_cancel);
  arena_test_add ("/arena/consumer/async/death", test_death);
  arena_test_add ("/arena/consumer/async/death-while-waiting", test_death_while_waiting);
  arena_test_add ("/arena/consumer/async/busy", test_busy);
  arena_test_add ("/arena/consumer/async/owner-drops", test_owner_drops);
  arena_test_add ("/arena/consumer/async/loop-stops", test_loop_stops);
  arena_test_add ("/arena/consumer/async/stop", test_stop);
  arena_test_add ("/arena/consumer/async/stop-waits", test_stop_waits);
  arena_test_add ("/arena/consumer/async/close", test_close);
  arena_test_add ("/arena/consumer/async/uninitialized", test_uninitialized);
  return g_test_run ();
}
