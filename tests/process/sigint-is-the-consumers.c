/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* C30, protocol 5.6: an interrupt at the terminal goes to the whole group; the worker leaves it to its consumer. */

static void
test_worker_ignores_it (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 3), 1, "units=6", "at=item:2", "do=interrupt", NULL);

  arena_test_receive (ARENA_CONSUMER (worker), 6, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

static int
consume_until_interrupted (gpointer data)
{
  int *fds = data;
  ArenaWorker *worker;
  gint64 pid;

  g_assert_no_errno (setpgid (0, 0));
  worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=1000", NULL);
  pid = arena_worker_get_pid (worker);
  arena_test_receive (ARENA_CONSUMER (worker), 10, 4096);
  g_assert_cmpint (write (fds[1], &pid, sizeof pid), ==, sizeof pid);
  pause ();
  return 0;
}

static void
test_group (void)
{
  gint64 sent, worker;
  pid_t consumer;
  int fds[2];

  g_assert_no_errno (pipe2 (fds, O_CLOEXEC));
  consumer = arena_test_start_child (consume_until_interrupted, fds);
  g_assert_cmpint (read (fds[0], &worker, sizeof worker), ==, sizeof worker);
  sent = g_get_monotonic_time ();
  g_assert_no_errno (kill (-consumer, SIGINT));
  g_assert_cmpint (arena_test_wait_child (consumer), ==, SIGINT);
  g_assert_true (WIFEXITED (arena_test_wait_child ((pid_t) worker)));
  g_assert_cmpint (g_get_monotonic_time () - sent, <, G_USEC_PER_SEC);
  close (fds[0]);
  close (fds[1]);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  g_assert_no_errno (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  arena_test_add ("/arena/worker/sigint/ignored", test_worker_ignores_it);
  arena_test_add ("/arena/worker/sigint/group", test_group);
  return g_test_run ();
}
