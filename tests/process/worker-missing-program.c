/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F26, F141: a start that fails is an error at once, nothing is left, and the arena can be used as if it had never
 * been. */
static void
test_missing_program (void)
{
  const char *const argv[] = { "arena-no-such-program", "x", NULL };
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  g_autoptr(GError) error = NULL;
  ArenaWorker *worker;

  for (guint i = 0; i < 3; i++)
    {
      g_assert_null (arena_worker_new (backend, argv, 1, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "arena-no-such-program");
    }

  worker = arena_test_worker_new (g_object_ref (backend), 1, "units=3", NULL);
  arena_test_receive (ARENA_CONSUMER (worker), 3, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

static void
test_missing_folder (void)
{
  const char *const argv[] = { "true", NULL };
  g_autoptr(ArenaBackend) backend = arena_test_ring_new (4096);
  g_autoptr(GError) error = NULL;

  g_assert_null (g_initable_new (ARENA_TYPE_WORKER, NULL, &error, "backend", backend, "argv", argv, "cwd", "/no/such/folder",
                                 NULL));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "/no/such/folder");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/missing-program", test_missing_program);
  arena_test_add ("/arena/worker/missing-folder", test_missing_folder);
  return g_test_run ();
}
