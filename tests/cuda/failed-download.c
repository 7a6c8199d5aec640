/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* A download that fails keeps buffer and memory until it is known that the copy has ended. */

static GPtrArray *
make (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);

  return cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
}

static void
assert_fails (GPtrArray  *buffers,
              int         code,
              const char *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_device_buffer_download (buffers->pdata[0], &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, code, text);
}

static void
test_unproven (void)
{
  GPtrArray *buffers = make ();

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_fake_inject ("cudaStreamSynchronize", 1, 1, CUDA_INVALID_VALUE, FALSE);
  assert_fails (buffers, ARENA_CUDA_ERROR_QUARANTINED, "cudaStreamSynchronize");
  g_ptr_array_unref (buffers);
  g_assert_cmpuint (arena_fake_count ("cudaFreeAsync"), ==, 0);
  cuda_test_assert_kept (0, 1);

  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaDeviceSynchronize (), ==, 0);
  g_assert_true (arena_cuda_context_retry_quarantine (cuda_test_get_context (), NULL));
  g_assert_cmpuint (arena_fake_count ("cudaFreeAsync"), ==, 1);
}

static void
test_refused (void)
{
  g_autoptr(GPtrArray) buffers = make ();
  g_autoptr(GBytes) back = NULL;

  arena_fake_inject ("cudaMemcpyAsync", 1, 1, CUDA_INVALID_VALUE, FALSE);
  assert_fails (buffers, ARENA_CUDA_ERROR_COPY, "cudaMemcpyAsync: a download");
  arena_fake_inject ("cudaHostAlloc", 1, 2, CUDA_MEMORY_ALLOCATION, FALSE);
  arena_pinned_cache_trim (cuda_test_get_device ()->staging);
  assert_fails (buffers, ARENA_CUDA_ERROR_NO_MEMORY, "4096 bytes of pinned memory");
  cuda_test_assert_kept (0, 0);

  back = arena_device_buffer_download (buffers->pdata[0], NULL);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (back, NULL), 1000, 1));
}

/* Enqueued behind the other stream's copy, or over already. */
static gboolean
is_decided (gpointer data G_GNUC_UNUSED)
{
  ArenaFakeLive live;

  arena_fake_live (&live);
  return arena_fake_count ("cudaMemcpyAsync") == 2 && (arena_fake_count ("cudaStreamWaitEvent") > 0 || live.pending == 1);
}

static gpointer
let_run (gpointer stream)
{
  g_assert_true (arena_test_wait_until (is_decided, NULL, 10000));
  arena_fake_step (stream, 1);
  return NULL;
}

/* It sees what a recorded stream was given: that copy begins when the download could have ended. */
static void
test_ordered (void)
{
  g_autoptr(GPtrArray) buffers = make ();
  g_autoptr(GBytes) other = cuda_test_make_bytes (1000, 2), back = NULL;
  CudaStream stream = cuda_test_stream_new ();
  CudaStream own = GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream);
  ArenaDeviceBuffer *buffer = buffers->pdata[0];
  GThread *thread;

  arena_fake_log_clear ();
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (GSIZE_TO_POINTER (arena_device_buffer_get_pointer (buffer)),
                                    g_bytes_get_data (other, NULL), 1000, CUDA_HOST_TO_DEVICE, stream), ==, 0);
  g_assert_true (arena_device_buffer_record_stream (buffer, (guintptr) stream, NULL));
  arena_fake_step (own, 1);
  thread = g_thread_new ("step", let_run, stream);
  back = arena_device_buffer_download (buffer, NULL);
  g_thread_join (thread);
  g_assert_true (g_bytes_equal (back, other));
  g_clear_pointer (&buffers, g_ptr_array_unref);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/failed-download/unproven", test_unproven);
  cuda_test_add ("/arena/cuda/failed-download/refused", test_refused);
  cuda_test_add ("/arena/cuda/failed-download/ordered", test_ordered);
  return g_test_run ();
}
