/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include "boundary/arena-async-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-timing-private.h"

/* The driver alone: an attempt that this test answers, on a consumer's endpoint. */

static struct
{
  guint  n_attempts;
  guint  ready_at;  /* the attempt that succeeds; 0: none */
  guint  n_left;
  gint64 hint;
  GError *failure;
} plan;

static gboolean
attempt (GTask     *task,
         gpointer   object,
         GError   **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (object);

  plan.n_attempts++;
  arena_event_drain (priv->waiter.event);
  priv->waiter.sleep_hint = plan.hint;
  if (plan.n_attempts == plan.ready_at)
    {
      plan.n_left++;
      g_task_return_int (task, 42);
      return TRUE;
    }

  if (plan.failure != NULL)
    g_propagate_error (error, g_steal_pointer (&plan.failure));
  else
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "not yet");
  return FALSE;
}

static GError *
leave (gpointer  object G_GNUC_UNUSED,
       GError   *error)
{
  plan.n_left++;
  return error;
}

static ArenaConsumer *
start (ArenaTestCall *call,
       guint          ready_at,
       gint64         timeout,
       GCancellable  *cancellable)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
  ArenaConsumerPrivate *priv = arena_consumer_get_private (consumer);
  g_autoptr(GTask) task = g_task_new (consumer, cancellable, arena_test_call_done, call);

  plan.n_attempts = plan.n_left = 0;
  plan.ready_at = ready_at;
  plan.hint = -1;
  arena_async_run (task, priv->channel, &priv->waiter, timeout, "the test", attempt, leave);
  return consumer;
}

static void
finish (ArenaTestCall *call,
        ArenaConsumer *consumer,
        GQuark         domain,
        int            code)
{
  g_autoptr(GError) error = NULL;

  arena_test_call_wait (call);
  if (domain == 0)
    g_assert_cmpint (g_task_propagate_int (G_TASK (call->result), &error), ==, 42);
  else
    g_assert_cmpint (g_task_propagate_int (G_TASK (call->result), &error), ==, -1);
  g_assert_true (domain == 0 ? error == NULL : g_error_matches (error, domain, code));
  arena_test_call_clear (call);
  g_assert_cmpuint (plan.n_left, ==, 1);
  g_object_unref (consumer);
}

static void
test_at_once (void)
{
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer = start (&call, 1, -1, NULL);

  /* Never from inside the call that starts it. */
  g_assert_null (call.result);
  finish (&call, consumer, 0, 0);
}

/* Each wake-up is one look, and between them nothing runs. */
static void
test_later (void)
{
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer = start (&call, 4, -1, NULL);

  for (guint i = 1; i < 4; i++)
    {
      arena_test_call_assert_pending (&call, 20);
      g_assert_cmpuint (plan.n_attempts, ==, i);
      arena_event_signal (arena_consumer_get_private (consumer)->waiter.event);
    }
  finish (&call, consumer, 0, 0);
}

/* Where the wait wants to be asked again by itself. */
static void
test_hint (void)
{
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer = start (&call, 3, -1, NULL);
  gint64 started = g_get_monotonic_time ();

  plan.hint = 20000;
  arena_event_signal (arena_consumer_get_private (consumer)->waiter.event);
  finish (&call, consumer, 0, 0);
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 20000);
}

/* It is a wait like any other: counted, and told once it lasts. */
static void
test_is_a_wait (void)
{
  ArenaTiming timing = arena_timing;
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer;
  ArenaWaiter *waiter;

  arena_timing.stall_log = 30000;
  arena_test_log_forget ();
  consumer = start (&call, 4, -1, NULL);
  waiter = &arena_consumer_get_private (consumer)->waiter;
  arena_test_call_assert_pending (&call, 100);
  g_assert_cmpuint (waiter->n_waits, ==, 1);
  g_assert_cmpint (waiter->waited_us, >=, 30000);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, "Waiting for the test"), ==, 1);
  for (guint i = 0; i < 2; i++)
    {
      arena_event_signal (waiter->event);
      arena_test_turn (50);
    }
  g_assert_cmpuint (waiter->n_waits, ==, 3);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, NULL), ==, 1);
  finish (&call, consumer, 0, 0);
  arena_timing = timing;
}

static void
test_timeout (void)
{
  ArenaTestCall call = { NULL };
  gint64 started = g_get_monotonic_time ();

  finish (&call, start (&call, 0, 30000, NULL), ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 30000);
  finish (&call, start (&call, 0, 0, NULL), ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (plan.n_attempts, ==, 1);
  finish (&call, start (&call, 1, 0, NULL), 0, 0);
}

static void
test_failure (void)
{
  ArenaTestCall call = { NULL };

  plan.failure = g_error_new_literal (ARENA_ERROR, ARENA_ERROR_PROTOCOL, "broken");
  finish (&call, start (&call, 0, -1, NULL), ARENA_ERROR, ARENA_ERROR_PROTOCOL);
}

static void
test_cancel (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer;

  /* Meanwhile. */
  consumer = start (&call, 0, -1, cancellable);
  arena_test_call_assert_pending (&call, 20);
  g_cancellable_cancel (cancellable);
  finish (&call, consumer, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  /* Before: nothing is looked at. */
  finish (&call, start (&call, 1, -1, cancellable), G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (plan.n_attempts, ==, 0);

  /* After: what was taken is handed over. */
  g_cancellable_reset (cancellable);
  consumer = start (&call, 1, -1, cancellable);
  g_cancellable_cancel (cancellable);
  finish (&call, consumer, 0, 0);
}

/* The task holds the object. */
static void
test_object_dropped (void)
{
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer = start (&call, 2, -1, NULL);
  int event = arena_consumer_get_private (consumer)->waiter.event;

  g_object_unref (consumer);
  arena_test_turn (10);
  arena_event_signal (event);
  arena_test_call_wait (&call);
  finish (&call, g_object_ref (consumer), 0, 0);
}

/* A main loop that stops in the middle: the call waits in its context for the next, whatever happens meanwhile. */
static void
test_loop_stops (void)
{
  GMainContext *context = g_main_context_new ();
  ArenaTestCall call = { NULL };
  ArenaConsumer *consumer;

  g_main_context_push_thread_default (context);
  consumer = start (&call, 2, -1, NULL);
  arena_test_call_assert_pending (&call, 10);
  g_main_context_pop_thread_default (context);

  arena_event_signal (arena_consumer_get_private (consumer)->waiter.event);
  arena_test_call_assert_pending (&call, 20);
  g_main_context_push_thread_default (context);
  finish (&call, consumer, 0, 0);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_log_capture ();
  arena_test_add ("/arena/async/at-once", test_at_once);
  arena_test_add ("/arena/async/later", test_later);
  arena_test_add ("/arena/async/hint", test_hint);
  arena_test_add ("/arena/async/is-a-wait", test_is_a_wait);
  arena_test_add ("/arena/async/timeout", test_timeout);
  arena_test_add ("/arena/async/failure", test_failure);
  arena_test_add ("/arena/async/cancel", test_cancel);
  arena_test_add ("/arena/async/object-dropped", test_object_dropped);
  arena_test_add ("/arena/async/loop-stops", test_loop_stops);
  return g_test_run ();
}
