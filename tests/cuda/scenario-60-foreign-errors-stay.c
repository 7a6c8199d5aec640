/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* Another's pending error is still pending after our calls, ours never is; an error of another's launch at our wait fails
 * the transfer and keeps nothing (61). */

static void
run (gboolean fail)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_autoptr(GPtrArray) buffers = NULL;

  if (fail)
    arena_fake_inject ("cudaMemcpyAsync", 1, 1, CUDA_NOT_SUPPORTED, FALSE);
  buffers = arena_transfer_run (transfer, NULL, NULL);
  g_assert_cmpint (buffers == NULL, ==, fail);
}

static void
test_foreign_stays (void)
{
  g_assert_cmpint (cudaSetDevice (99), ==, CUDA_INVALID_DEVICE);
  run (FALSE);
  g_assert_cmpint (cudaPeekAtLastError (), ==, CUDA_INVALID_DEVICE);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_INVALID_DEVICE);
  g_assert_cmpint (cudaGetLastError (), ==, 0);
}

static void
test_ours_goes (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  g_autoptr(GPtrArray) buffers = NULL;

  run (TRUE);
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);

  /* "Not ready" is one for CUDA. */
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  buffers = cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL));
  g_assert_false (arena_device_buffer_is_ready (buffers->pdata[0], NULL));
  cuda_test_sweep ();
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);
  arena_fake_step (NULL, -1);
  g_assert_true (arena_device_buffer_synchronize (buffers->pdata[0], NULL));
}

static void
test_foreign_launch (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_autoptr(GError) error = NULL;

  arena_fake_inject_async (NULL, CUDA_NOT_PERMITTED);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "cudaStreamSynchronize",
                           "cudaErrorNotPermitted (800)", "device 0");
  cuda_test_assert_kept (0, 0);
  run (FALSE);
}

/* 72: domain, code, function, name and number, device. */
static void
test_message (void)
{
  static const struct
  {
    const char    *function;
    int            error;
    ArenaCudaError code;
    const char    *name;
  } failures[] = {
    { "cudaMallocAsync", CUDA_MEMORY_ALLOCATION, ARENA_CUDA_ERROR_NO_MEMORY, "cudaErrorMemoryAllocation (2)" },
    { "cudaMemcpyAsync", CUDA_INVALID_VALUE, ARENA_CUDA_ERROR_COPY, "cudaErrorInvalidValue (1)" },
    { "cudaMemcpyAsync", CUDA_UNLOADING, ARENA_CUDA_ERROR_UNLOADING, "cudaErrorCudartUnloading (4)" },
    { "cudaMemcpyAsync", CUDA_ILLEGAL_ADDRESS, ARENA_CUDA_ERROR_CONTEXT_LOST, "cudaErrorIllegalAddress (700)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (failures); i++)
    {
      g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
      g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, NULL, NULL);
      g_autoptr(GError) error = NULL;

      arena_fake_inject (failures[i].function, 1, 1, failures[i].error, FALSE);
      g_assert_null (arena_transfer_run (transfer, NULL, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, (int) failures[i].code, failures[i].function, failures[i].name,
                               "device 0");
      arena_fake_reset ();
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/60-foreign-errors-stay/foreign-stays", test_foreign_stays);
  cuda_test_add ("/arena/cuda/60-foreign-errors-stay/ours-goes", test_ours_goes);
  cuda_test_add ("/arena/cuda/60-foreign-errors-stay/61-foreign-launch", test_foreign_launch);
  cuda_test_add ("/arena/cuda/60-foreign-errors-stay/72-message", test_message);
  return g_test_run ();
}
