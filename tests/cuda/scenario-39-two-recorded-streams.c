/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* A buffer that two streams use waits for both, in whatever order they end; naming one twice changes nothing. */

#define SIZE 3000

static void
run (guint first)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);
  CudaStream streams[] = { cuda_test_stream_new (), cuda_test_stream_new () };
  GBytes *bytes = cuda_test_take (cache, SIZE);
  gconstpointer data = g_bytes_get_data (bytes, NULL);
  void *device[2];

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_test_fill_pattern ((void *) data, SIZE, 1);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (cudaMalloc (&device[i], SIZE), ==, 0);
      g_assert_cmpint (cudaMemcpyAsync (device[i], data, SIZE, CUDA_HOST_TO_DEVICE, streams[i]), ==, 0);
      g_assert_true (arena_pinned_cache_record_stream (cache, data, (guintptr) streams[i]));
      g_assert_true (arena_pinned_cache_record_stream (cache, data, (guintptr) streams[i]));
    }
  arena_fake_log_clear ();
  g_bytes_unref (bytes);
  g_assert_cmpuint (arena_fake_count ("cudaEventRecord"), ==, 2);

  arena_fake_step (streams[first], 1);
  g_assert_cmpint (cudaStreamSynchronize (streams[first]), ==, 0);
  cuda_test_sweep ();
  cuda_test_assert_kept (1, 0);
  arena_fake_step (streams[1 - first], 1);
  g_assert_cmpint (cudaStreamSynchronize (streams[1 - first]), ==, 0);
  cuda_test_sweep ();
  cuda_test_assert_kept (0, 0);

  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (cudaFree (device[i]), ==, 0);
      g_assert_cmpint (cudaStreamDestroy (streams[i]), ==, 0);
    }
  arena_pinned_cache_unref (cache);
}

static void
test_one_order (void)
{
  run (0);
}

static void
test_other_order (void)
{
  run (1);
}

static void
test_unknown_address (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);
  GBytes *bytes = cuda_test_take (cache, SIZE);
  const guint8 *data = g_bytes_get_data (bytes, NULL);

  g_assert_true (arena_pinned_cache_record_stream (cache, data + SIZE - 1, 1));
  g_assert_false (arena_pinned_cache_record_stream (cache, data - 1, 1));
  g_assert_false (arena_pinned_cache_record_stream (cache, data + 4096, 1));
  g_bytes_unref (bytes);
  g_assert_false (arena_pinned_cache_record_stream (cache, data, 1));
  arena_pinned_cache_unref (cache);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/39-two-recorded-streams/one-order", test_one_order);
  cuda_test_add ("/arena/cuda/39-two-recorded-streams/other-order", test_other_order);
  cuda_test_add ("/arena/cuda/39-two-recorded-streams/unknown-address", test_unknown_address);
  return g_test_run ();
}
