/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <glib-unix.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena-error.h"
#include "boundary/arena-child-private.h"

#define PATIENCE_US (10 * G_USEC_PER_SEC)

static void
spawn (ArenaChild *child,
       const char *script,
       int         fd)
{
  const char *const argv[] = { "sh", "-c", script, NULL };
  g_autoptr(GError) error = NULL;

  arena_child_init (child);
  arena_child_spawn (child, argv, NULL, NULL, fd, &error);
  g_assert_no_error (error);
  g_assert_cmpint (child->pid, >, 0);
}

static void
finish (ArenaChild *child,
        int         wait_status)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_child_wait (child, PATIENCE_US, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (child->pid, ==, 0);
  g_assert_cmpint (child->wait_status, ==, wait_status);
  arena_child_clear (child);
}

/* The child finds its descriptor by the variable, and nothing else was inherited. */
static void
test_descriptor (void)
{
  char text[32] = "";
  ArenaChild child;
  int fds[2];

  g_assert_no_errno (pipe2 (fds, O_CLOEXEC));
  spawn (&child, "test \"$ARENA_WORKER_FD\" = 3 && test ! -e /proc/self/fd/4 && echo hello >&3", fds[1]);
  close (fds[1]);
  finish (&child, 0);
  g_assert_cmpint (read (fds[0], text, sizeof text - 1), ==, 6);
  g_assert_cmpstr (text, ==, "hello\n");
  g_assert_cmpint (read (fds[0], text, 1), ==, 0);
  close (fds[0]);
}

static void
test_environment_and_folder (void)
{
  const char *const argv[] = { "/bin/sh", "-c", "test \"$COLOUR\" = blue && test -z \"$HOME\" && test \"$PWD\" = /", NULL };
  const char *const envp[] = { "COLOUR=blue", NULL };
  g_autoptr(GError) error = NULL;
  ArenaChild child;

  arena_child_init (&child);
  arena_child_spawn (&child, argv, envp, "/", STDERR_FILENO, &error);
  g_assert_no_error (error);
  finish (&child, 0);
}

static void
test_exit_status (void)
{
  ArenaChild child;

  spawn (&child, "exit 3", STDERR_FILENO);
  finish (&child, 3 << 8);
  spawn (&child, "kill -9 $$", STDERR_FILENO);
  finish (&child, SIGKILL);
}

static void
test_missing_program (void)
{
  const char *const argv[] = { "arena-no-such-program", NULL };
  g_autoptr(GError) error = NULL;
  ArenaChild child;

  arena_child_init (&child);
  g_assert_false (arena_child_spawn (&child, argv, NULL, NULL, STDERR_FILENO, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "arena-no-such-program");
  g_assert_cmpint (child.pid, ==, 0);
  g_assert_true (arena_child_wait (&child, 0, NULL, NULL));
  arena_child_signal (&child, SIGKILL); /* nobody */
  arena_child_clear (&child);
}

static void
test_wait_times_out (void)
{
  gint64 started = g_get_monotonic_time ();
  g_autoptr(GError) error = NULL;
  ArenaChild child;

  spawn (&child, "exec sleep 60", STDERR_FILENO);
  g_assert_false (arena_child_wait (&child, 0, NULL, &error));
  g_assert_false (arena_child_wait (&child, 30000, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 30000);
  arena_child_signal (&child, SIGTERM);
  finish (&child, SIGTERM);
}

static void
test_cancel (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  GThread *thread;
  ArenaChild child;

  spawn (&child, "exec sleep 60", STDERR_FILENO);
  thread = arena_test_cancel_later (cancellable, 30);
  g_assert_false (arena_child_wait (&child, PATIENCE_US, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  arena_test_join_canceller (thread, cancellable);
  arena_child_signal (&child, SIGKILL);
  finish (&child, SIGKILL);
}

/* valgrind and old kernels have no pidfd: the end is looked for. */
static void
test_without_pidfd (void)
{
  ArenaChild child;

  spawn (&child, "sleep 0.05; exit 4", STDERR_FILENO);
  arena_child_clear (&child);
  g_assert_cmpint (child.pidfd, ==, -1);
  finish (&child, 4 << 8);
}

/* Where somebody else reaps, the end is seen and the status is unknown. */
static void
test_reaped_by_another (void)
{
  struct sigaction old, ignore = { .sa_handler = SIG_IGN };
  ArenaChild child;

  g_assert_no_errno (sigaction (SIGCHLD, &ignore, &old));
  spawn (&child, "exit 5", STDERR_FILENO);
  finish (&child, -1);
  g_assert_no_errno (sigaction (SIGCHLD, &old, NULL));
}

/* A timeout near the end of time isn't one that is over. */
static void
test_longest_timeout (void)
{
  g_autoptr(GError) error = NULL;
  ArenaChild child;

  spawn (&child, "sleep 0.05; exit 3", STDERR_FILENO);
  g_assert_true (arena_child_wait (&child, G_MAXINT64, NULL, &error));
  g_assert_no_error (error);
  finish (&child, 3 << 8);
}

/* Whoever doesn't want to wait at all still learns that he was cancelled. */
static void
test_cancelled_before (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  ArenaChild child;

  spawn (&child, "exec sleep 60", STDERR_FILENO);
  g_cancellable_cancel (cancellable);
  g_assert_false (arena_child_wait (&child, 0, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  arena_child_signal (&child, SIGKILL);
  finish (&child, SIGKILL);
}

static gpointer
wait_beside (gpointer child)
{
  return GINT_TO_POINTER (arena_child_wait (child, PATIENCE_US, NULL, NULL));
}

/* Several threads wait, and none keeps another from looking or from signalling. */
static void
test_threads (void)
{
  GThread *threads[3];
  ArenaChild child;

  spawn (&child, "exec sleep 60", STDERR_FILENO);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("wait", wait_beside, &child);
  g_usleep (20000);
  g_assert_false (arena_child_wait (&child, 0, NULL, NULL));
  arena_child_signal (&child, SIGTERM);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (GPOINTER_TO_INT (g_thread_join (threads[i])));
  finish (&child, SIGTERM);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/child/descriptor", test_descriptor);
  arena_test_add ("/arena/child/environment-and-folder", test_environment_and_folder);
  arena_test_add ("/arena/child/exit-status", test_exit_status);
  arena_test_add ("/arena/child/missing-program", test_missing_program);
  arena_test_add ("/arena/child/wait-times-out", test_wait_times_out);
  arena_test_add ("/arena/child/cancel", test_cancel);
  arena_test_add ("/arena/child/without-pidfd", test_without_pidfd);
  arena_test_add ("/arena/child/reaped-by-another", test_reaped_by_another);
  arena_test_add ("/arena/child/threads", test_threads);
  arena_test_add ("/arena/child/longest-timeout", test_longest_timeout);
  arena_test_add ("/arena/child/cancelled-before", test_cancelled_before);
  return g_test_run ();
}
