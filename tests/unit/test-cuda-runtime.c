/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "cuda/arena-cuda-runtime-private.h"

#include <string.h>

/* What needs no runtime library; tests/cuda has the rest. Every program sees a library once, so each in a child. */

static void
assert_unavailable (const char *path,
                    const char *text)
{
  g_autoptr(GError) error = NULL;

  g_setenv ("ARENA_CUDART", path, TRUE);
  g_assert_null (arena_cuda_runtime_open (&error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE, text);
}

static gboolean
is_disabled (void)
{
  g_autoptr(GError) error = NULL;

  g_setenv ("ARENA_CUDART", "/nonexistent", TRUE);
  arena_cuda_runtime_open (&error);
  return error != NULL && strstr (error->message, "-Dcuda=disabled") != NULL;
}

/* One that was named is the only one tried. */
static int
open_missing (gpointer data)
{
  assert_unavailable ("/nonexistent/libcudart.so", "/nonexistent/libcudart.so");
  return 0;
}

static int
open_another (gpointer data)
{
  assert_unavailable ("libm.so.6", "has no cudaRuntimeGetVersion");
  return 0;
}

static int
open_text (gpointer data)
{
  assert_unavailable ("/proc/self/status", "/proc/self/status");
  return 0;
}

static void
test_unavailable (void)
{
  if (is_disabled ())
    return;

  arena_test_assert_child (open_missing, NULL);
  arena_test_assert_child (open_another, NULL);
  arena_test_assert_child (open_text, NULL);
}

/* A failure isn't kept, and the next call looks again. */
static void
test_fails_again (void)
{
  for (guint i = 0; i < 3; i++)
    assert_unavailable ("/nonexistent/libcudart.so", "");
}

static void
test_override (void)
{
  gboolean disabled = is_disabled ();

  g_setenv ("ARENA_CUDART", "/somewhere", TRUE);
  g_assert_cmpstr (arena_cuda_runtime_get_override (FALSE), ==, disabled ? NULL : "/somewhere");
  g_assert_null (arena_cuda_runtime_get_override (TRUE));
  g_setenv ("ARENA_CUDART", "", TRUE);
  g_assert_null (arena_cuda_runtime_get_override (FALSE));
  g_unsetenv ("ARENA_CUDART");
  g_assert_null (arena_cuda_runtime_get_override (FALSE));
}

/* Nobody has initialised anything. */
static int
check_fork (gpointer data)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_cuda_runtime_check_fork (&error));
  g_assert_no_error (error);
  return 0;
}

static void
test_fork (void)
{
  check_fork (NULL);
  arena_test_assert_child (check_fork, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-runtime/unavailable", test_unavailable);
  arena_test_add ("/arena/cuda-runtime/a-failure-is-not-kept", test_fails_again);
  arena_test_add ("/arena/cuda-runtime/override", test_override);
  arena_test_add ("/arena/cuda-runtime/opening-nothing-forks-freely", test_fork);
  return g_test_run ();
}
