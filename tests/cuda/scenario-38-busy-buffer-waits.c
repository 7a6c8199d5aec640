/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* A buffer that a stream still reads is not used again, and not freed, until that stream is done with it. */

#define SIZE 5000

typedef struct
{
  ArenaPinnedCache *cache;
  CudaStream        stream;
  void             *device;
} Set;

static void
set_up (Set    *set,
        guint64 max_cached)
{
  set->cache = arena_pinned_cache_new (cuda_test_get_device (), max_cached);
  set->stream = cuda_test_stream_new ();
  g_assert_cmpint (cudaMalloc (&set->device, SIZE), ==, 0);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
}

static void
tear_down (Set *set)
{
  arena_pinned_cache_unref (set->cache);
  g_assert_cmpint (cudaFree (set->device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (set->stream), ==, 0);
}

/* Drops a buffer while a copy from it waits at the gate. */
static gconstpointer
drop_busy (Set     *set,
           gboolean record)
{
  GBytes *bytes = cuda_test_take (set->cache, SIZE);
  gconstpointer data = g_bytes_get_data (bytes, NULL);

  arena_test_fill_pattern ((void *) data, SIZE, 1);
  g_assert_cmpint (cudaMemcpyAsync (set->device, data, SIZE, CUDA_HOST_TO_DEVICE, set->stream), ==, 0);
  if (record)
    g_assert_true (arena_pinned_cache_record_stream (set->cache, (const char *) data + 100, (guintptr) set->stream));
  g_bytes_unref (bytes);
  return data;
}

static void
overwrite (GBytes *bytes)
{
  arena_test_fill_pattern ((void *) g_bytes_get_data (bytes, NULL), SIZE, 2);
}

static void
test_waits (void)
{
  gconstpointer busy;
  GBytes *other;
  Set set;

  set_up (&set, 1 << 20);
  busy = drop_busy (&set, TRUE);
  cuda_test_assert_kept (1, 0);
  g_assert_cmpuint (cuda_test_get_figures (set.cache).waiting_bytes, ==, 8192);
  other = cuda_test_take (set.cache, SIZE);
  g_assert_true (g_bytes_get_data (other, NULL) != busy);
  overwrite (other);
  g_bytes_unref (other);

  arena_fake_step (NULL, 1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  cuda_test_check_device (set.device, SIZE, 1);
  cuda_test_sweep ();
  cuda_test_assert_kept (0, 0);
  g_assert_cmpuint (cuda_test_get_figures (set.cache).cached_bytes, ==, 2 * 8192);
  other = cuda_test_take (set.cache, SIZE);
  g_assert_true (g_bytes_get_data (other, NULL) == busy);
  g_bytes_unref (other);
  tear_down (&set);
}

/* Where nothing is cached, it would be freed. */
static void
test_not_freed (void)
{
  Set set;

  set_up (&set, 0);
  drop_busy (&set, TRUE);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 0);
  arena_fake_step (NULL, 1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  cuda_test_sweep ();
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 1);
  tear_down (&set);
}

/* What the double notices if nobody waits. */
static void
test_negative_control (void)
{
  GBytes *other;
  Set set;

  set_up (&set, 1 << 20);
  drop_busy (&set, FALSE);
  other = cuda_test_take (set.cache, SIZE);
  overwrite (other);
  arena_fake_step (NULL, 1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  cuda_test_expect_violation ("changed in flight");
  g_bytes_unref (other);
  tear_down (&set);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/38-busy-buffer-waits/not-used-again", test_waits);
  cuda_test_add ("/arena/cuda/38-busy-buffer-waits/not-freed", test_not_freed);
  cuda_test_add ("/arena/cuda/38-busy-buffer-waits/negative-control", test_negative_control);
  return g_test_run ();
}
