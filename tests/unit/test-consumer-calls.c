/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <fcntl.h>
#include <sys/pidfd.h>
#include <unistd.h>

/* The calls on a consumer, without anybody at the other end. */

static ArenaConsumer *
new_consumer (void)
{
  return arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
}

static void
test_worker_fd (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  int fd = arena_consumer_dup_worker_fd (consumer, NULL);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  g_assert_cmpint (arena_consumer_dup_worker_fd (consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);

  /* No copy is kept: closing it is a hang-up. */
  close (fd);
  arena_test_assert_gone (consumer, "");
  g_object_unref (consumer);
}

static void
test_timeouts (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  gint64 started;

  g_assert_null (arena_consumer_next (consumer, -2, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "-2");
  g_assert_false (arena_consumer_stop (consumer, G_MININT64, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);

  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "the next unit");
  started = g_get_monotonic_time ();
  g_assert_null (arena_consumer_next (consumer, 30000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "the next unit");
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 30000);
  g_object_unref (consumer);
}

static void
test_watch_pidfd (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  int pidfd;

  g_assert_false (arena_consumer_watch_pidfd (consumer, -1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "-1");

  /* It would never, or at once, look like a death. */
  g_assert_false (arena_consumer_watch_pidfd (consumer, dup (STDERR_FILENO), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "not a process's");
  g_assert_cmpint (arena_consumer_get_private (consumer)->channel->peer.pidfd, ==, -1);

  pidfd = pidfd_open (getpid (), 0);
  if (pidfd >= 0)
    g_assert_true (arena_consumer_watch_pidfd (consumer, pidfd, NULL));

  /* Taken over in any case: the test counts descriptors. */
  g_assert_true (arena_consumer_close (consumer, -1, NULL, NULL));
  g_assert_false (arena_consumer_watch_pidfd (consumer, dup (STDERR_FILENO), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_object_unref (consumer);
}

static int
leave_at_once (gpointer data)
{
  return 5;
}

/* A process that somebody else started and reaps; the producer never attached. */
static void
test_exit_status (void)
{
  ArenaConsumer *consumer = new_consumer ();
  pid_t pid = arena_test_start_child (leave_at_once, NULL);
  int pidfd = pidfd_open (pid, 0);
  int status;

  if (pidfd >= 0)
    g_assert_true (arena_consumer_watch_pidfd (consumer, pidfd, NULL));
  status = arena_test_wait_child (pid);
  arena_consumer_set_exit_status (consumer, status);
  close (arena_consumer_dup_worker_fd (consumer, NULL));
  arena_test_assert_gone (consumer, "The worker is gone: exited with code 5");
  g_object_unref (consumer);
}

static gpointer
wait_until_closed (gpointer data)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (data, 10 * G_USEC_PER_SEC, NULL, &error));
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  return NULL;
}

static gboolean
is_waiting (gpointer data)
{
  return atomic_load (&arena_consumer_get_private (data)->waiter.n_waits) > 0 ||
         atomic_load (&arena_consumer_get_private (data)->waiter.entered) != 0;
}

/* F164: one thread waits, a second one is told so. */
static void
test_second_waiter (void)
{
  ArenaConsumer *consumer = new_consumer ();
  GThread *thread = g_thread_new ("wait", wait_until_closed, consumer);
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_test_wait_until (is_waiting, consumer, 5000));
  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_false (arena_consumer_start (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_false (arena_consumer_stop (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_false (arena_consumer_watch_pidfd (consumer, dup (STDERR_FILENO), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);

  g_assert_true (arena_consumer_close (consumer, -1, NULL, NULL));
  g_thread_join (thread);
  g_object_unref (consumer);
}

/* Without a running iteration there is nothing to stop. */
static void
test_stop_without_an_iteration (void)
{
  ArenaConsumer *consumer = new_consumer ();

  g_assert_true (arena_consumer_stop (consumer, -1, NULL, NULL));
  g_assert_true (arena_consumer_stop (consumer, 0, NULL, NULL));
  g_object_unref (consumer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/consumer/worker-fd", test_worker_fd);
  arena_test_add ("/arena/consumer/timeouts", test_timeouts);
  arena_test_add ("/arena/consumer/watch-pidfd", test_watch_pidfd);
  arena_test_add ("/arena/consumer/exit-status", test_exit_status);
  arena_test_add ("/arena/consumer/second-waiter", test_second_waiter);
  arena_test_add ("/arena/consumer/stop-without-an-iteration", test_stop_without_an_iteration);
  return g_test_run ();
}
