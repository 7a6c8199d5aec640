/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* When field k of n fails, the copies before it are waited for, everything is given up, and the error names k (F53). */

static void
run (const char *function,
     int         error_number,
     int         code,
     const char *name)
{
  g_autoptr(ArenaTransfer) transfer = NULL;
  g_autoptr(GError) error = NULL;
  gboolean freed[3];
  GBytes *bytes[3];

  for (guint i = 0; i < 3; i++)
    bytes[i] = cuda_test_watch_bytes (1000, i, &freed[i]);
  transfer = cuda_test_transfer_new (bytes[0], bytes[1], bytes[2]);
  for (guint i = 0; i < 3; i++)
    g_bytes_unref (bytes[i]);

  arena_fake_set_mode (ARENA_FAKE_DELAY, 20);
  arena_fake_log_clear ();
  arena_fake_inject (function, 2, 2, error_number, FALSE);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, code, "Field 1: ", function, name, "device 0");

  /* Nothing else was started, and what was has ended. */
  g_assert_cmpuint (arena_fake_count (function), <=, 3);
  g_assert_cmpuint (arena_fake_count ("cudaStreamSynchronize"), ==, 1);
  g_assert_cmpuint (arena_fake_count ("cudaStreamDestroy"), ==, 0);
  for (guint i = 0; i < 3; i++)
    g_assert_true (freed[i]);
  cuda_test_assert_kept (0, 0);
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);
}

static void
test_destination (void)
{
  run ("cudaMallocAsync", CUDA_MEMORY_ALLOCATION, ARENA_CUDA_ERROR_NO_MEMORY, "cudaErrorMemoryAllocation (2)");
}

static void
test_copy (void)
{
  run ("cudaMemcpyAsync", CUDA_INVALID_VALUE, ARENA_CUDA_ERROR_COPY, "cudaErrorInvalidValue (1)");
}

/* Asked for twice, since what is cached may be what is missing. */
static void
test_staging (void)
{
  run ("cudaHostAlloc", CUDA_MEMORY_ALLOCATION, ARENA_CUDA_ERROR_NO_MEMORY, "cudaErrorMemoryAllocation (2)");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/50-field-k-fails-drained/destination", test_destination);
  cuda_test_add ("/arena/cuda/50-field-k-fails-drained/copy", test_copy);
  cuda_test_add ("/arena/cuda/50-field-k-fails-drained/staging", test_staging);
  return g_test_run ();
}
