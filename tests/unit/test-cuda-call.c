/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-runtime.h"
#include "arena-test.h"
#include "cuda/arena-cuda-call-private.h"

/* Against a runtime that keeps what one thread's state is. */

static void
assert_state (int device,
              int mode,
              int error)
{
  g_assert_cmpint (arena_test_runtime.device, ==, device);
  g_assert_cmpint (arena_test_runtime.capture_mode, ==, mode);
  g_assert_cmpint (arena_test_runtime.last_error, ==, error);
}

static void
test_no_trace (void)
{
  ArenaCudaScope scope;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_cuda_scope_enter (&scope, arena_test_runtime_get (), 1, &error));
  assert_state (1, ARENA_CUDA_CAPTURE_RELAXED, 0);
  g_assert_false (arena_cuda_scope_check (&scope, arena_test_runtime_fail (2), "cudaMalloc", ARENA_CUDA_ERROR_COPY, "field 7", &error));
  g_assert_cmpint (scope.status, ==, 2);
  arena_cuda_scope_leave (&scope);
  assert_state (0, 0, 0);
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "cudaMalloc", "field 7",
                           "cudaErrorMemoryAllocation (2)", "device 1", "ask for less");
}

/* Not ready is an answer, and the runtime notes it as an error all the same. */
static void
test_not_ready (void)
{
  ArenaCudaScope scope;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_cuda_scope_enter (&scope, arena_test_runtime_get (), 0, &error));
  g_assert_false (arena_cuda_scope_check (&scope, arena_test_runtime_fail (600), "cudaStreamQuery", ARENA_CUDA_ERROR_COPY, "", &error));
  arena_cuda_scope_leave (&scope);
  assert_state (0, 0, 0);
  g_assert_no_error (error);
}

static void
test_foreign_error (void)
{
  ArenaCudaScope scope;

  arena_test_runtime.last_error = 700;
  g_assert_true (arena_cuda_scope_enter (&scope, arena_test_runtime_get (), 1, NULL));
  g_assert_true (arena_cuda_scope_check (&scope, 0, "cudaMalloc", ARENA_CUDA_ERROR_COPY, "", NULL));
  arena_cuda_scope_leave (&scope);
  assert_state (0, 0, 700);
  arena_test_runtime.last_error = 0;
}

static void
test_bad_device (void)
{
  ArenaCudaScope scope;
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_cuda_scope_enter (&scope, arena_test_runtime_get (), 2, &error));
  assert_state (0, 0, 0);
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_DEVICE, "cudaSetDevice", "(101)", "device 2");
}

/* What wasn't exchanged isn't put back. */
static void
test_mode_refused (void)
{
  ArenaCudaScope scope;

  arena_test_runtime.capture_mode = 1;
  arena_test_runtime.refuse_mode = TRUE;
  g_assert_true (arena_cuda_scope_enter (&scope, arena_test_runtime_get (), 1, NULL));
  arena_test_runtime.refuse_mode = FALSE;
  arena_cuda_scope_leave (&scope);
  assert_state (0, 1, 0);
  arena_test_runtime.capture_mode = 0;
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-call/leaves-no-trace", test_no_trace);
  arena_test_add ("/arena/cuda-call/not-ready-is-no-error", test_not_ready);
  arena_test_add ("/arena/cuda-call/a-foreign-error-survives", test_foreign_error);
  arena_test_add ("/arena/cuda-call/bad-device", test_bad_device);
  arena_test_add ("/arena/cuda-call/refused-capture-mode", test_mode_refused);
  return g_test_run ();
}
