/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* The memory of a dropped buffer is freed when the streams that use it are done, with and without memory pools. */

static void
run (gboolean    record,
     const char *free_function)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  CudaStream stream = cuda_test_stream_new ();
  ArenaDeviceBuffer *buffer;
  GPtrArray *buffers;

  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  buffer = buffers->pdata[0];
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_fake_launch (stream, GSIZE_TO_POINTER (arena_device_buffer_get_pointer (buffer)), 1000);
  if (record)
    g_assert_true (arena_device_buffer_record_stream (buffer, (guintptr) stream, NULL));
  g_ptr_array_unref (buffers);
  g_assert_cmpuint (arena_fake_count (free_function), ==, record ? 0 : 1);

  if (!record)
    g_assert_cmpint (cudaStreamSynchronize (GSIZE_TO_POINTER (cuda_test_get_call (free_function, 0).stream)), ==, 0);
  arena_fake_step (stream, 1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  if (!record)
    cuda_test_expect_violation ("is used by an operation");
  cuda_test_sweep ();
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
  if (record)
    g_assert_cmpuint (arena_fake_count (free_function), ==, 1);
}

static void
test_pools (void)
{
  run (TRUE, "cudaFreeAsync");
}

static void
test_no_pools (void)
{
  cuda_test_get_context ()->has_pools = FALSE;
  run (TRUE, "cudaFree");
  cuda_test_get_context ()->has_pools = TRUE;
}

static void
test_negative_control (void)
{
  run (FALSE, "cudaFreeAsync");
}

/* The consumer's stream is recorded without asking. */
static void
test_consumer_stream (void)
{
  ArenaCudaContext *context = cuda_test_get_context ();
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  CudaStream stream = cuda_test_stream_new ();
  ArenaDeviceBuffer *buffer;
  GPtrArray *buffers;

  g_assert_cmpuint (arena_cuda_context_get_consumer_stream (context), ==, 1);
  g_object_set (context, "consumer-stream", (guint64) (guintptr) stream, NULL);
  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  arena_cuda_context_set_consumer_stream (context, 1);
  buffer = buffers->pdata[0];
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_fake_launch (stream, GSIZE_TO_POINTER (arena_device_buffer_get_pointer (buffer)), 1000);
  g_ptr_array_unref (buffers);
  cuda_test_assert_kept (1, 0);
  arena_fake_step (stream, 1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  cuda_test_sweep ();
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

/* Dropped before its own copy has ended: a late copy must not hit memory that is used again. */
static void
test_filling (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_ptr_array_unref (cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL)));
  g_assert_cmpuint (arena_fake_count ("cudaFreeAsync"), ==, 0);
  cuda_test_assert_kept (2, 0);
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaDeviceSynchronize (), ==, 0);
}

/* What CUDA doesn't take back is tried again. */
static void
test_refused (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  GPtrArray *buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));

  arena_fake_inject ("cudaFreeAsync", 1, 1, CUDA_INVALID_VALUE, FALSE);
  g_ptr_array_unref (buffers);
  cuda_test_assert_kept (0, 1);
  g_assert_true (arena_cuda_context_retry_quarantine (cuda_test_get_context (), NULL));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/59-busy-device-buffer-waits/pools", test_pools);
  cuda_test_add ("/arena/cuda/59-busy-device-buffer-waits/no-pools", test_no_pools);
  cuda_test_add ("/arena/cuda/59-busy-device-buffer-waits/negative-control", test_negative_control);
  cuda_test_add ("/arena/cuda/59-busy-device-buffer-waits/consumer-stream", test_consumer_stream);
  cuda_test_add ("/arena/cuda/59-busy-device-buffer-waits/being-filled", test_filling);
  cuda_test_add ("/arena/cuda/59-busy-device-buffer-waits/refused", test_refused);
  return g_test_run ();
}
