/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "fake-cudart.h"

#include <stdatomic.h>
#include <string.h>

/* The double's streams, events and host functions. */

static void *device;

static CudaStream
new_stream (guint flags)
{
  CudaStream stream;

  g_assert_cmpint (cudaStreamCreateWithFlags (&stream, flags), ==, 0);
  return stream;
}

static void
begin (void)
{
  arena_fake_reset ();
  g_assert_cmpint (cudaMalloc (&device, 4096), ==, 0);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
}

static void
end (CudaStream a,
     CudaStream b)
{
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaDeviceSynchronize (), ==, 0);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (a), ==, 0);
  if (b != NULL)
    g_assert_cmpint (cudaStreamDestroy (b), ==, 0);
}

static void
test_event_orders (void)
{
  CudaStream a, b;
  CudaEvent event;

  begin ();
  a = new_stream (CUDA_STREAM_NON_BLOCKING);
  b = new_stream (CUDA_STREAM_NON_BLOCKING);
  g_assert_cmpint (cudaEventCreateWithFlags (&event, 2), ==, 0);
  g_assert_cmpint (cudaEventQuery (event), ==, 0);
  arena_fake_launch (a, device, 100);
  g_assert_cmpint (cudaEventRecord (event, a), ==, 0);
  g_assert_cmpint (cudaStreamWaitEvent (b, event, 0), ==, 0);
  arena_fake_launch (b, device, 100);
  arena_fake_launch (a, device, 100);

  arena_fake_step (b, 1);
  g_assert_cmpint (cudaEventQuery (event), ==, CUDA_NOT_READY);
  g_assert_cmpint (cudaStreamQuery (b), ==, CUDA_NOT_READY);
  arena_fake_step (a, 1);
  g_assert_cmpint (cudaEventSynchronize (event), ==, 0);
  g_assert_cmpint (cudaStreamSynchronize (b), ==, 0);
  g_assert_cmpint (cudaStreamQuery (a), ==, CUDA_NOT_READY);
  g_assert_cmpint (cudaEventDestroy (event), ==, 0);
  end (a, b);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 0);
}

/* The legacy default stream waits for blocking streams and they for it; non-blocking ones don't care. */
static void
test_legacy_order (void)
{
  CudaStream a, b;

  begin ();
  a = new_stream (0);
  b = new_stream (CUDA_STREAM_NON_BLOCKING);
  arena_fake_launch (a, device, 100);
  arena_fake_launch (NULL, device, 100);
  arena_fake_launch (a, device, 100);
  arena_fake_launch (b, device, 100);
  arena_fake_step (b, 1);
  g_assert_cmpint (cudaStreamSynchronize (b), ==, 0);
  arena_fake_step (CUDA_STREAM_LEGACY, 1);
  g_assert_cmpint (cudaStreamQuery (NULL), ==, CUDA_NOT_READY);
  arena_fake_step (a, 2);
  g_assert_cmpint (cudaStreamSynchronize (a), ==, 0);
  g_assert_cmpint (cudaStreamQuery (NULL), ==, 0);
  end (a, b);
}

static void
test_destroyed (void)
{
  CudaStream a;
  const char *text;

  begin ();
  a = new_stream (CUDA_STREAM_NON_BLOCKING);
  arena_fake_launch (a, device, 100);
  g_assert_cmpint (cudaStreamDestroy (a), ==, 0);
  g_assert_cmpuint (arena_fake_violations (&text), ==, 1);
  g_assert_nonnull (strstr (text, "has work"));
  g_assert_cmpint (cudaStreamSynchronize (a), ==, CUDA_INVALID_RESOURCE_HANDLE);
  g_assert_cmpuint (arena_fake_violations (&text), ==, 2);
  arena_fake_reset ();
  g_assert_cmpint (cudaFree (device), ==, 0);
}

static void
test_device_of_event (void)
{
  CudaStream a;
  CudaEvent event;

  begin ();
  arena_fake_set_devices (2);
  a = new_stream (CUDA_STREAM_NON_BLOCKING);
  g_assert_cmpint (cudaSetDevice (1), ==, 0);
  g_assert_cmpint (cudaEventCreateWithFlags (&event, 2), ==, 0);
  g_assert_cmpint (cudaEventRecord (event, a), ==, CUDA_INVALID_RESOURCE_HANDLE);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 1);
  g_assert_cmpint (cudaEventDestroy (event), ==, 0);
  g_assert_cmpint (cudaSetDevice (0), ==, 0);
  end (a, NULL);
}

static atomic_int called;

static void
call_runtime (void *data)
{
  void *pointer;

  atomic_store (&called, cudaMalloc (&pointer, 100));
}

static void
test_host_function (void)
{
  CudaStream a;

  begin ();
  a = new_stream (CUDA_STREAM_NON_BLOCKING);
  g_assert_cmpint (cudaLaunchHostFunc (a, call_runtime, NULL), ==, 0);
  g_assert_cmpint (cudaStreamSynchronize (a), ==, 0);
  g_assert_cmpint (atomic_load (&called), ==, CUDA_NOT_PERMITTED);
  end (a, NULL);
}

static void
test_delay (void)
{
  CudaStream a;
  gint64 start;

  begin ();
  a = new_stream (CUDA_STREAM_NON_BLOCKING);
  arena_fake_set_mode (ARENA_FAKE_DELAY, 20);
  start = g_get_monotonic_time ();
  arena_fake_launch (a, device, 100);
  g_assert_cmpint (cudaStreamSynchronize (a), ==, 0);
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 20000);
  end (a, NULL);
}

static gpointer
copy_a_lot (gpointer data)
{
  CudaStream stream = new_stream (CUDA_STREAM_NON_BLOCKING);

  for (guint i = 0; i < 50; i++)
    {
      guint8 *host, copy[100];
      void *own;

      g_assert_cmpint (cudaHostAlloc ((void **) &host, 100, 1), ==, 0);
      g_assert_cmpint (cudaMallocAsync (&own, 100, stream), ==, 0);
      arena_test_fill_pattern (host, 100, i);
      g_assert_cmpint (cudaMemcpyAsync (own, host, 100, CUDA_HOST_TO_DEVICE, stream), ==, 0);
      g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
      g_assert_cmpint (cudaMemcpy (copy, own, 100, CUDA_DEVICE_TO_HOST), ==, 0);
      g_assert_true (arena_test_check_pattern (copy, 100, i));
      g_assert_cmpint (cudaFreeAsync (own, stream), ==, 0);
      g_assert_cmpint (cudaFreeHost (host), ==, 0);
    }

  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
  return NULL;
}

static void
test_threads (void)
{
  GThread *threads[8];
  ArenaFakeLive live;

  arena_fake_reset ();
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("copy", copy_a_lot, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);

  arena_fake_live (&live);
  g_assert_cmpuint (live.host_allocs + live.device_allocs + live.streams + live.pending, ==, 0);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/fake/streams/events-order-them", test_event_orders);
  arena_test_add ("/fake/streams/legacy-default-stream-orders", test_legacy_order);
  arena_test_add ("/fake/streams/old-handles-are-noticed", test_destroyed);
  arena_test_add ("/fake/streams/events-belong-to-a-device", test_device_of_event);
  arena_test_add ("/fake/streams/host-functions-must-not-call", test_host_function);
  arena_test_add ("/fake/streams/delay", test_delay);
  arena_test_add ("/fake/streams/eight-threads", test_threads);
  return g_test_run ();
}
