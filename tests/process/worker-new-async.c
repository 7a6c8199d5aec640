/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include <signal.h>

/* A worker started and read without blocking. */

#define SIZE 4096

static ArenaWorker *
new_worker (ArenaBackend   *backend,
            const char     *program,
            GCancellable   *cancellable,
            GError        **error)
{
  const char *argv[] = { program, "units=6", NULL };
  ArenaTestCall call = { NULL };
  ArenaWorker *worker;

  arena_worker_new_async (backend, argv, 2, G_PRIORITY_DEFAULT, cancellable, arena_test_call_done, &call);
  g_assert_null (call.result);
  arena_test_call_wait (&call);
  worker = arena_worker_new_finish (call.result, error);
  arena_test_call_clear (&call);
  return worker;
}

static ArenaWorker *
start (void)
{
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "process", "worker", NULL);
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (SIZE, 4);
  g_autoptr(GError) error = NULL;
  ArenaWorker *worker = new_worker (backend, program, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (arena_worker_get_pid (worker), >, 0);
  return worker;
}

static void
test_reads (void)
{
  ArenaWorker *worker = start ();
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 6; i++)
    {
      g_autoptr(ArenaUnit) unit = arena_test_next_async (ARENA_CONSUMER (worker), &error);

      g_assert_no_error (error);
      arena_test_assert_unit (unit, SIZE);
    }
  g_assert_null (arena_test_next_async (ARENA_CONSUMER (worker), &error));
  g_assert_no_error (error);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

/* What fails or is cancelled leaves the arena for another try. */
static void
test_fails (void)
{
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "process", "worker", NULL);
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (SIZE, 4);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  ArenaWorker *worker;

  g_assert_null (new_worker (backend, "no-such-program-anywhere", NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "no-such-program-anywhere");
  g_cancellable_cancel (cancellable);
  g_assert_null (new_worker (backend, program, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  worker = new_worker (backend, program, NULL, &error);
  g_assert_no_error (error);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

/* Protocol 6: it dies while a call is pending; every published unit comes first. */
static void
test_killed (void)
{
  ArenaWorker *worker = start ();
  g_autoptr(GError) error = NULL;
  ArenaUnit *unit;
  guint n = 0;

  /* It fills the queue of 2 and waits. */
  unit = arena_test_next_async (ARENA_CONSUMER (worker), &error);
  g_assert_no_error (error);
  g_object_unref (unit);
  arena_test_turn (100);
  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGKILL));
  while ((unit = arena_test_next_async (ARENA_CONSUMER (worker), &error)) != NULL)
    {
      arena_test_assert_unit (unit, SIZE);
      g_object_unref (unit);
      n++;
    }
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "killed by signal 9");
  g_assert_cmpuint (n, >=, 2);
  g_object_unref (worker);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/worker/new-async/reads", test_reads);
  arena_test_add ("/arena/worker/new-async/fails", test_fails);
  arena_test_add ("/arena/worker/new-async/killed", test_killed);
  return g_test_run ();
}
