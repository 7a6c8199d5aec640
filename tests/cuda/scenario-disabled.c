/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "cuda/arena-cuda-context.h"
#include "cuda/arena-cuda-error.h"

/* The library as -Dcuda=disabled builds it. */

static void
test_disabled (void)
{
  g_autoptr(ArenaBackend) pool = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_cuda_context_is_supported ());
  g_assert_null (arena_cuda_context_get_default (&error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE, "-Dcuda=disabled");
  pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", G_GUINT64_CONSTANT (4096), "count", 2,
                         "pin-memory", TRUE, NULL);
  g_assert_no_error (error);
  g_assert_null (arena_backend_open_reader (pool, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE, "-Dcuda=disabled");
}

static void
test_unpinned (void)
{
  ArenaSent sent;
  ArenaEnds ends;

  arena_ends_open_pool (&ends, 4096, 2);
  sent = arena_ends_send (&ends, 4096, 1);
  arena_ends_pass (&ends, &sent);
  arena_ends_clear (&ends);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda/scenario-08-disabled", test_disabled);
  arena_test_add ("/arena/cuda/scenario-08-unpinned-works", test_unpinned);
  return g_test_run ();
}
