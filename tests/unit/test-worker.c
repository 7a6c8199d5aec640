/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>

#include "sync/arena-timing-private.h"

/* A worker as an object; what its process does and suffers is tests/process/. */

static const char *const wait_argv[] = { "sh", "-c", "exec sleep 60", NULL };

static void
test_properties (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  const char *const environ_[] = { "PATH=/usr/bin:/bin", "A=b", NULL };
  g_autoptr(GError) error = NULL;
  g_autofree char *cwd = NULL;
  g_auto(GStrv) argv = NULL;
  ArenaWorker *worker;
  gint64 pid;
  int status;

  worker = g_initable_new (ARENA_TYPE_WORKER, NULL, &error, "backend", backend, "argv", wait_argv, "environ", environ_,
                           "cwd", "/", "buffer-size", 2, NULL);
  g_assert_no_error (error);
  g_object_get (worker, "argv", &argv, "cwd", &cwd, "pid", &pid, "exit-status", &status, NULL);
  g_assert_cmpstrv (argv, wait_argv);
  g_assert_cmpstr (cwd, ==, "/");
  g_assert_cmpint (pid, >, 0);
  g_assert_cmpint (status, ==, -1);
  g_assert_cmpstrv (arena_worker_get_argv (worker), wait_argv);
  g_assert_cmpstrv (arena_worker_get_environ (worker), environ_);
  g_assert_cmpstr (arena_worker_get_cwd (worker), ==, "/");
  g_assert_cmpint (arena_worker_get_pid (worker), ==, pid);

  g_assert_true (arena_consumer_close (ARENA_CONSUMER (worker), 0, NULL, NULL));
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, SIGTERM);
  g_assert_cmpint (arena_worker_get_pid (worker), ==, pid);
  g_object_unref (worker);
}

static void
test_without_argv (void)
{
  const char *const none[] = { NULL };
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_worker_new (backend, none, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "program");
  g_assert_null (g_initable_new (ARENA_TYPE_WORKER, NULL, &error, "backend", backend, NULL));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "program");
}

static void
test_uninitialized (void)
{
  ArenaWorker *worker = g_object_new (ARENA_TYPE_WORKER, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_null (arena_worker_get_argv (worker));
  g_assert_null (arena_worker_get_environ (worker));
  g_assert_cmpint (arena_worker_get_pid (worker), ==, 0);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, -1);
  g_assert_true (arena_consumer_close (ARENA_CONSUMER (worker), -1, NULL, NULL));
  g_object_unref (worker);
}

/* The worker has the descriptor already. */
static void
test_descriptor_is_taken (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  g_autoptr(ArenaWorker) worker = arena_worker_new (backend, wait_argv, 1, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (arena_consumer_dup_worker_fd (ARENA_CONSUMER (worker), &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
}

/* A program that isn't a worker. */
static void
test_no_worker_program (void)
{
  const char *const argv[] = { "sh", "-c", "exit 6", NULL };
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  g_autoptr(ArenaWorker) worker = arena_worker_new (backend, argv, 1, NULL);

  g_assert_cmpuint (arena_test_assert_gone (ARENA_CONSUMER (worker), "The worker is gone: exited with code 6"), ==, 0);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, 6 << 8);
}

static gpointer
close_slowly (gpointer worker)
{
  g_assert_true (arena_consumer_close (worker, 20 * G_USEC_PER_SEC, NULL, NULL));
  return NULL;
}

static int
ask_in_child (gpointer worker)
{
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, -1);
  return 0;
}

/* Somebody waits for the end: asking for the status doesn't, in this process or in a child of it. */
static void
test_status_while_closing (void)
{
  const char *const argv[] = { "sh", "-c", "trap '' TERM; exec sleep 60", NULL };
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  ArenaWorker *worker = arena_worker_new (backend, argv, 1, NULL);
  /* valgrind looks for it in the child, which has this thread's registers no more. */
  static GThread *thread;

  thread = g_thread_new ("close", close_slowly, worker);
  g_usleep (100000);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, -1);
  arena_test_assert_child (ask_in_child, worker);
  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGKILL));
  g_thread_join (thread);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, SIGKILL);
  g_object_unref (worker);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.dispose_grace = 20000;
  arena_test_add ("/arena/worker/properties", test_properties);
  arena_test_add ("/arena/worker/without-argv", test_without_argv);
  arena_test_add ("/arena/worker/uninitialized", test_uninitialized);
  arena_test_add ("/arena/worker/descriptor-is-taken", test_descriptor_is_taken);
  arena_test_add ("/arena/worker/no-worker-program", test_no_worker_program);
  arena_test_add ("/arena/worker/status-while-closing", test_status_while_closing);
  return g_test_run ();
}
