/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>

#include "sync/arena-timing-private.h"

/* F88, protocol 5.5: close asks, then SIGTERM, then SIGKILL, each within its bound and with one warning. */

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
finish (ArenaWorker *worker,
        int          signal_number,
        guint        n_warnings)
{
  gint64 pid = arena_worker_get_pid (worker);
  gint64 started = g_get_monotonic_time ();
  g_autoptr(GError) error = NULL;

  arena_consumer_close (ARENA_CONSUMER (worker), -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
  g_assert_false (arena_test_process_exists (pid));
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, signal_number);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, n_warnings);

  /* Closing again does nothing. */
  g_assert_true (arena_consumer_close (ARENA_CONSUMER (worker), 0, NULL, NULL));
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, n_warnings);
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
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, "sending SIGTERM"), ==, 1);
}

static void
test_killed (void)
{
  finish (start ("do=wait-stubbornly"), SIGKILL, 2);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, "sending SIGKILL"), ==, 1);
}

/* SIGTERM stays pending in a stopped process; SIGKILL doesn't. */
static void
test_stopped (void)
{
  ArenaWorker *worker = start ("do=wait");

  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGSTOP));
  finish (worker, SIGKILL, 2);
}

/* It hung up but did not leave: gone for the iteration, still a process to end. */
static void
test_hung_up (void)
{
  ArenaWorker *worker = start ("do=hang-up");

  arena_test_assert_gone (ARENA_CONSUMER (worker), "hung up");
  finish (worker, SIGTERM, 1);
}

/* A cancelled close goes on when it is called again. */
static void
test_cancelled (void)
{
  ArenaWorker *worker = start ("do=wait");
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GThread *thread = arena_test_cancel_later (cancellable, 20);
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_consumer_close (ARENA_CONSUMER (worker), 10 * G_USEC_PER_SEC, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  arena_test_join_canceller (thread, cancellable);
  g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  finish (worker, SIGTERM, 1);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.join = 50000;
  arena_timing.terminate = 50000;
  arena_timing.exit_status = 20000;
  arena_test_add ("/arena/worker/close-ladder/leaves", test_leaves);
  arena_test_add ("/arena/worker/close-ladder/terminated", test_terminated);
  arena_test_add ("/arena/worker/close-ladder/killed", test_killed);
  arena_test_add ("/arena/worker/close-ladder/stopped", test_stopped);
  arena_test_add ("/arena/worker/close-ladder/hung-up", test_hung_up);
  arena_test_add ("/arena/worker/close-ladder/cancelled", test_cancelled);
  return g_test_run ();
}
