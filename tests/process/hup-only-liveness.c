/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Protocol 5.1: without pidfds (valgrind, old kernels) the hang-up of the socket is enough, on both sides. */

#define PASS_PIDFD 76 /* SO_PASSPIDFD */

static void
refuse_pidfds (void)
{
  arena_test_refuse_syscall (SYS_pidfd_open, 0, 0, 0, ENOSYS);
  arena_test_refuse_syscall (SYS_setsockopt, 2, G_MAXUINT32, PASS_PIDFD, ENOPROTOOPT);
}

static int
worker_dies (gpointer data)
{
  ArenaWorker *worker;
  gint64 killed;

  refuse_pidfds ();
  worker = arena_test_worker_new (arena_test_pool_new (4096, 3), 2, "units=9", "at=item:4", "do=wait", NULL);
  arena_test_receive (ARENA_CONSUMER (worker), 4, 4096);
  g_assert_cmpint (arena_consumer_get_private (ARENA_CONSUMER (worker))->channel->peer.pidfd, ==, -1);

  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGKILL));
  killed = g_get_monotonic_time ();
  g_assert_cmpuint (arena_test_assert_gone (ARENA_CONSUMER (worker), "signal 9"), ==, 0);
  g_assert_cmpint (g_get_monotonic_time () - killed, <, G_USEC_PER_SEC);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
  return 0;
}

static void
test_worker_dies (void)
{
  arena_test_assert_child (worker_dies, NULL);
}

/* The worker has no pidfd of its consumer either: it leaves when the consumer is dropped, and close needs no signal. */
static int
consumer_leaves (gpointer data)
{
  ArenaWorker *worker;

  refuse_pidfds ();
  arena_test_log_capture ();
  worker = arena_test_worker_new (arena_test_pool_new (4096, 3), 2, "units=9", NULL);
  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  g_assert_true (arena_consumer_close (ARENA_CONSUMER (worker), -1, NULL, NULL));
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, 0);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, 0);
  g_object_unref (worker);
  return 0;
}

static void
test_consumer_leaves (void)
{
  arena_test_assert_child (consumer_leaves, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/hup-only/worker-dies", test_worker_dies);
  arena_test_add ("/arena/worker/hup-only/consumer-leaves", test_consumer_leaves);
  return g_test_run ();
}
