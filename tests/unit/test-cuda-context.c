/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error.h"
#include "cuda/arena-cuda-context-private.h"
#include "cuda/arena-cuda-error.h"

/* Without a library; tests/cuda has the rest. */

static void
test_unavailable (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_cuda_context_is_supported ());
  g_assert_null (arena_cuda_context_get_default (&error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE);
  g_assert_null (arena_cuda_context_get_for_device (0, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE);
}

/* What is wrong with the rank is said first. */
static void
test_rank (void)
{
  const char *const ranks[] = { "x", "", "-1", "1x", " ", "99999999999999999999" };

  for (guint i = 0; i < G_N_ELEMENTS (ranks); i++)
    {
      g_autofree char *text = g_strdup_printf ("LOCAL_RANK is \"%s\"", ranks[i]);
      g_autoptr(GError) error = NULL;

      g_setenv ("LOCAL_RANK", ranks[i], TRUE);
      g_assert_null (arena_cuda_context_get_default (&error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_BAD_RANK, text, "correct LOCAL_RANK");
    }
  g_unsetenv ("LOCAL_RANK");
}

static void
test_by_hand (void)
{
  g_autoptr(ArenaCudaContext) context = g_object_new (ARENA_TYPE_CUDA_CONTEXT, NULL);
  g_autoptr(GError) error = NULL;
  ArenaCudaScope scope;

  g_assert_cmpint (arena_cuda_context_get_device (context), ==, -1);
  g_assert_cmpuint (arena_cuda_context_get_runtime_version (context), ==, 0);
  g_assert_cmpuint (arena_cuda_context_get_driver_version (context), ==, 0);
  g_assert_null (arena_cuda_context_get_library_path (context));
  g_assert_false (arena_cuda_context_get_page_locks (context));
  g_assert_cmpuint (arena_cuda_context_get_pinned_bytes (context), ==, 0);
  g_assert_cmpuint (arena_cuda_context_get_n_registrations (context), ==, 0);
  g_assert_cmpuint (arena_cuda_context_get_n_quarantined (context), ==, 0);
  g_assert_cmpuint (arena_cuda_context_get_quarantined_bytes (context), ==, 0);
  g_assert_true (arena_cuda_context_retry_quarantine (context, &error));
  g_assert_no_error (error);
  g_assert_false (arena_cuda_context_enter (context, &scope, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
}

int
main (int    argc,
      char **argv)
{
  g_setenv ("ARENA_CUDART", "/nonexistent/libcudart.so", TRUE);
  g_unsetenv ("LOCAL_RANK");
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-context/unavailable", test_unavailable);
  arena_test_add ("/arena/cuda-context/bad-rank", test_rank);
  arena_test_add ("/arena/cuda-context/constructed-by-hand", test_by_hand);
  return g_test_run ();
}
