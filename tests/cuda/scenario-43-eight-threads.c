/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include <stdatomic.h>

/* Eight threads take, fill, copy from, hand over and drop buffers of one cache. */

enum { THREADS = 8, ROUNDS = 150, SLOTS = 16 };

static ArenaPinnedCache *cache;
static _Atomic (GBytes *) slots[SLOTS];

/* What was dropped by another thread comes back with its pattern, or the cache gave it out twice. */
static void
exchange (GBytes *bytes,
          guint   slot)
{
  GBytes *other = atomic_exchange (&slots[slot], bytes);

  if (other == NULL)
    return;

  g_assert_true (arena_test_check_pattern (g_bytes_get_data (other, NULL), g_bytes_get_size (other),
                                           g_bytes_get_size (other)));
  g_bytes_unref (other);
}

static gpointer
work (gpointer data)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (data));
  CudaStream stream = cuda_test_stream_new ();
  void *device;

  g_assert_cmpint (cudaMalloc (&device, 1 << 14), ==, 0);
  for (guint i = 0; i < ROUNDS; i++)
    {
      gsize size = (gsize) g_rand_int_range (rand, 1, 1 << 14);
      GBytes *bytes = cuda_test_take (cache, size);
      gpointer buffer = (gpointer) g_bytes_get_data (bytes, NULL);

      arena_test_fill_pattern (buffer, size, size);
      if (i % 3 == 0)
        {
          g_assert_cmpint (cudaMemcpyAsync (device, buffer, size, CUDA_HOST_TO_DEVICE, stream), ==, 0);
          g_assert_true (arena_pinned_cache_record_stream (cache, buffer, (guintptr) stream));
        }
      exchange (bytes, (guint) g_rand_int_range (rand, 0, SLOTS));
    }

  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_assert_cmpint (cudaFree (device), ==, 0);
  return stream;
}

static void
test_threads (void)
{
  CudaStream streams[THREADS];
  GThread *threads[THREADS];

  cache = arena_pinned_cache_new (cuda_test_get_device (), 64 << 10);
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("cache", work, GUINT_TO_POINTER (i));
  for (guint i = 0; i < THREADS; i++)
    streams[i] = g_thread_join (threads[i]);
  for (guint i = 0; i < SLOTS; i++)
    exchange (NULL, i);

  cuda_test_sweep ();
  g_assert_cmpuint (cuda_test_get_figures (cache).used_bytes, ==, 0);
  g_assert_cmpuint (cuda_test_get_figures (cache).cached_bytes, <=, 64 << 10);
  arena_pinned_cache_unref (cache);
  for (guint i = 0; i < THREADS; i++)
    g_assert_cmpint (cudaStreamDestroy (streams[i]), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/43-eight-threads/one-cache", test_threads);
  return g_test_run ();
}
