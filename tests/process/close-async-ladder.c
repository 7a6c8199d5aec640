/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include <signal.h>

#include "sync/arena-timing-private.h"

/* C102: the ladder of close-ladder.c without blocking: the main context turns at each step of it. */

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

static gboolean
close_async (ArenaWorker   *worker,
             GCancellable  *cancellable,
             GError       **error)
{
  ArenaTestCall call = { NULL };
  ArenaTestTimer timer;
  gboolean closed;

  arena_test_timer_start (&timer);
  arena_consumer_close_async (ARENA_CONSUMER (worker), -1, cancellable, arena_test_call_done, &call);
  arena_test_call_wait (&call);
  closed = arena_consumer_close_finish (ARENA_CONSUMER (worker), call.result, error);
  arena_test_call_clear (&call);
  /* A step takes 100 ms. */
  arena_test_turn (20);
  g_assert_cmpint (arena_test_timer_stop (&timer), <, 60000);
  return closed;
}

static void
finish (ArenaWorker *worker,
        int          signal_number,
        guint        n_warnings)
{
  gint64 pid = arena_worker_get_pid (worker);
  g_autoptr(GError) error = NULL;

  g_assert_true (close_async (worker, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (arena_test_process_exists (pid));
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, signal_number);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, n_warnings);
  g_assert_cmpint (arena_consumer_get_state (ARENA_CONSUMER (worker)), ==, ARENA_CONSUMER_STATE_CLOSED);
  g_assert_finalize_object (worker);
}

static void
test_leaves (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=9", NULL);

  arena_test_log_forget ();
  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  finish (worker, 0, 0);
}

static void
test_terminated (void)
{
  finish (start ("do=wait"), SIGTERM, 1);
}

static void
test_killed (void)
{
  finish (start ("do=wait-stubbornly"), SIGKILL, 2);
}

static void
test_stopped (void)
{
  ArenaWorker *worker = start ("do=wait");

  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGSTOP));
  finish (worker, SIGKILL, 2);
}

/* A cancelled close goes on when it is called again. */
static void
test_cancelled (void)
{
  ArenaWorker *worker = start ("do=wait");
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GThread *thread = arena_test_cancel_later (cancellable, 20);
  g_autoptr(GError) error = NULL;

  g_assert_false (close_async (worker, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  arena_test_join_canceller (thread, cancellable);
  g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  finish (worker, SIGTERM, 1);
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
  arena_timing.join = 100000;
  arena_timing.terminate = 100000;
  arena_timing.exit_status = 20000;
  arena_test_add ("/arena/worker/close-async/leaves", test_leaves);
  arena_test_add ("/arena/worker/close-async/terminated", test_terminated);
  arena_test_add ("/arena/worker/close-async/killed", test_killed);
  arena_test_add ("/arena/worker/close-async/stopped", test_stopped);
  arena_test_add ("/arena/worker/close-async/cancelled", test_cancelled);
  arena_test_add ("/arena/worker/close-async/dropped", test_dropped);
  return g_test_run ();
}
