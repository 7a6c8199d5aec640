/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* After enqueue(), a stream that waits for the buffer runs after its copy, and the caller may ask or wait. */

/* F57 */
static void
test_wait_on_stream (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  CudaStream stream = cuda_test_stream_new ();
  ArenaDeviceBuffer *buffer;

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  buffers = cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL));
  buffer = buffers->pdata[0];
  g_assert_false (arena_device_buffer_is_ready (buffer, NULL));
  g_assert_true (arena_device_buffer_wait_on_stream (buffer, (guintptr) stream, NULL));
  arena_fake_launch (stream, GSIZE_TO_POINTER (arena_device_buffer_get_pointer (buffer)), 1000);

  arena_fake_step (stream, 1);
  g_assert_cmpint (cudaStreamQuery (stream), ==, CUDA_NOT_READY);
  cudaGetLastError ();
  arena_fake_step (GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream), 1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_assert_true (arena_device_buffer_is_ready (buffer, NULL));
  g_assert_true (arena_device_buffer_synchronize (buffer, NULL));
  cuda_test_check_buffer (buffers, 0, 1000, 1);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

static gpointer
synchronize (gpointer buffer)
{
  g_assert_true (arena_device_buffer_synchronize (buffer, NULL));
  return NULL;
}

static gboolean
is_waiting (gpointer data G_GNUC_UNUSED)
{
  ArenaFakeLive live;

  arena_fake_live (&live);
  return live.waiting == 1;
}

static gboolean
is_set (gpointer flag)
{
  return g_atomic_int_get ((gint *) flag);
}

static gpointer
let_run (gpointer asked)
{
  (void) !arena_test_wait_until (is_set, asked, 2000);
  arena_fake_step (NULL, -1);
  return NULL;
}

/* Asking and ordering wait for nobody who waits. */
static void
test_others_wait (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  CudaStream stream = cuda_test_stream_new ();
  ArenaDeviceBuffer *buffer;
  GThread *threads[3];
  gint asked = FALSE;

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  buffers = cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL));
  buffer = buffers->pdata[0];
  threads[0] = g_thread_new ("first", synchronize, buffer);
  g_assert_true (arena_test_wait_until (is_waiting, NULL, 10000));
  threads[1] = g_thread_new ("step", let_run, &asked);
  threads[2] = g_thread_new ("second", synchronize, buffer);
  g_assert_false (arena_device_buffer_is_ready (buffer, NULL));
  g_assert_true (arena_device_buffer_wait_on_stream (buffer, (guintptr) stream, NULL));
  g_atomic_int_set (&asked, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_true (arena_device_buffer_is_ready (buffer, NULL));
  cuda_test_check_buffer (buffers, 0, 1000, 1);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

/* Nothing to wait for once it is filled. */
static void
test_filled (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);

  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  arena_fake_log_clear ();
  g_assert_true (arena_device_buffer_wait_on_stream (buffers->pdata[0], 1, NULL));
  g_assert_true (arena_device_buffer_is_ready (buffers->pdata[0], NULL));
  g_assert_cmpuint (arena_fake_count ("cudaStreamWaitEvent"), ==, 0);
}

/* No event, no way to tell later: then it is waited for, and it fails. */
static void
test_no_event (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_autoptr(GError) error = NULL;

  arena_fake_inject ("cudaEventRecord", 1, 1, CUDA_INVALID_VALUE, FALSE);
  g_assert_null (arena_transfer_enqueue (transfer, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "cudaEventRecord");
  cuda_test_assert_kept (0, 0);
}

static void
test_download (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1), back = NULL;
  g_autoptr(GError) error = NULL;

  arena_fake_set_mode (ARENA_FAKE_DELAY, 10);
  buffers = cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL));
  back = arena_device_buffer_download (buffers->pdata[0], &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (back, bytes));
  g_assert_true (arena_fake_is_pinned (g_bytes_get_data (back, NULL), 1000));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/58-event-orders-streams/wait-on-stream", test_wait_on_stream);
  cuda_test_add ("/arena/cuda/58-event-orders-streams/others-wait", test_others_wait);
  cuda_test_add ("/arena/cuda/58-event-orders-streams/filled", test_filled);
  cuda_test_add ("/arena/cuda/58-event-orders-streams/no-event", test_no_event);
  cuda_test_add ("/arena/cuda/58-event-orders-streams/download", test_download);
  return g_test_run ();
}
