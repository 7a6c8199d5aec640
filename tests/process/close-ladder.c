/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include <signal.h>

#include "sync/arena-timing-private.h"

/* F88, protocol 5.5: close asks, then SIGTERM, then SIGKILL, each within its bound and with one warning. C102: the same
 * without blocking; then the main context turns at each step. */

#define STEP_MS 100

typedef gboolean (*Close) (ArenaConsumer  *consumer,
                           gint64          timeout,
                           GCancellable   *cancellable,
                           GError        **error);

static gboolean
close_async (ArenaConsumer  *consumer,
             gint64          timeout,
             GCancellable   *cancellable,
             GError        **error)
{
  ArenaTestCall call = { NULL };
  ArenaTestTimer timer;
  gboolean closed;

  arena_test_timer_start (&timer);
  arena_consumer_close_async (consumer, timeout, cancellable, arena_test_call_done, &call);
  arena_test_call_wait (&call);
  closed = arena_consumer_close_finish (consumer, call.result, error);
  arena_test_call_clear (&call);
  arena_test_turn (20); /* the timer is late only when it comes */
  g_assert_cmpint (arena_test_timer_stop (&timer), <, STEP_MS * 600);
  return closed;
}

static ArenaWorker *
start (const char *action)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=9", "at=item:1", action, NULL);

  arena_test_log_forget ();
  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  /* It has left the call and is in its action. */
  g_usleep (20000);
  return worker;
}

static void
finish (Close        how,
        ArenaWorker *worker,
        int          signal_number,
        guint        n_warnings)
{
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  gint64 pid = arena_worker_get_pid (worker);
  gint64 started = g_get_monotonic_time ();
  g_autoptr(GError) error = NULL;

  how (consumer, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
  g_assert_false (arena_test_process_exists (pid));
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, signal_number);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, n_warnings);
  g_assert_cmpint (arena_consumer_get_state (consumer), ==, ARENA_CONSUMER_STATE_CLOSED);

  /* Closing again does nothing. */
  g_assert_true (how (consumer, 0, NULL, NULL));
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, n_warnings);
  g_assert_finalize_object (worker);
}

static void
leaves (Close how)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=9", NULL);

  arena_test_log_forget ();
  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  finish (how, worker, 0, 0);
}

static void
is_terminated (Close how)
{
  finish (how, start ("do=wait"), SIGTERM, 1);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, "sending SIGTERM"), ==, 1);
}

static void
is_killed (Close how)
{
  finish (how, start ("do=wait-stubbornly"), SIGKILL, 2);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, "sending SIGKILL"), ==, 1);
}

/* SIGTERM stays pending in a stopped process; SIGKILL doesn't. */
static void
is_stopped (Close how)
{
  ArenaWorker *worker = start ("do=wait");

  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGSTOP));
  finish (how, worker, SIGKILL, 2);
}

/* It hung up but did not leave: gone for the iteration, still a process to end. */
static void
has_hung_up (Close how)
{
  ArenaWorker *worker = start ("do=hang-up");

  arena_test_assert_gone (ARENA_CONSUMER (worker), "hung up");
  finish (how, worker, SIGTERM, 1);
}

/* A cancelled close goes on when it is called again. */
static void
is_cancelled (Close how)
{
  ArenaWorker *worker = start ("do=wait");
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GThread *thread = arena_test_cancel_later (cancellable, 20);
  g_autoptr(GError) error = NULL;

  g_assert_false (how (ARENA_CONSUMER (worker), 10 * G_USEC_PER_SEC, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  arena_test_join_canceller (thread, cancellable);
  g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  finish (how, worker, SIGTERM, 1);
}

static const struct
{
  const char *name;
  void      (*func) (Close how);
} cases[] = {
  { "leaves", leaves },
  { "terminated", is_terminated },
  { "killed", is_killed },
  { "stopped", is_stopped },
  { "hung-up", has_hung_up },
  { "cancelled", is_cancelled },
};

/* Every case, blocking and not. */
static void
run_all (Close how)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s", cases[i].name);
      cases[i].func (how);
    }
}

static void
test_blocking (void)
{
  run_all (arena_consumer_close);
}

static void
test_async (void)
{
  run_all (close_async);
}

/* Its owner drops it: the call ends the process before the object goes. */
static void
test_dropped (void)
{
  ArenaWorker *worker = start ("do=wait");
  gint64 pid = arena_worker_get_pid (worker);
  ArenaTestCall call = { NULL };

  arena_consumer_close_async (ARENA_CONSUMER (worker), -1, NULL, arena_test_call_done, &call);
  g_object_unref (worker);
  arena_test_call_assert_pending (&call, 10);
  arena_test_call_wait (&call);
  g_assert_true (arena_consumer_close_finish (ARENA_CONSUMER (call.object), call.result, NULL));
  g_assert_false (arena_test_process_exists (pid));
  arena_test_call_clear (&call);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_log_capture ();
  arena_timing.join = STEP_MS * 1000;
  arena_timing.terminate = STEP_MS * 1000;
  arena_timing.exit_status = 20000;
  arena_test_add ("/arena/worker/close-ladder/blocking", test_blocking);
  arena_test_add ("/arena/worker/close-ladder/async", test_async);
  arena_test_add ("/arena/worker/close-ladder/dropped", test_dropped);
  return g_test_run ();
}
