/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* Every byte is counted in one place, and every call once. */

static void
assert_figures (ArenaPinnedCache *cache,
                guint64           used,
                guint64           cached,
                guint64           waiting)
{
  ArenaPinnedFigures figures = cuda_test_get_figures (cache);
  ArenaFakeLive live;

  g_assert_cmpuint (figures.used_bytes, ==, used);
  g_assert_cmpuint (figures.cached_bytes, ==, cached);
  g_assert_cmpuint (figures.waiting_bytes, ==, waiting);
  g_assert_cmpuint (figures.n_allocations, ==, arena_fake_count ("cudaHostAlloc"));
  g_assert_cmpuint (figures.n_frees, ==, arena_fake_count ("cudaFreeHost"));
  arena_fake_live (&live);
  g_assert_cmpuint (figures.allocated_bytes, ==, live.host_bytes);
}

static void
test_figures (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 16384);
  CudaStream stream = cuda_test_stream_new ();
  GBytes *a, *b;
  void *device;

  assert_figures (cache, 0, 0, 0);
  a = cuda_test_take (cache, 1);
  b = cuda_test_take (cache, 5000);
  assert_figures (cache, 4096 + 8192, 0, 0);

  g_assert_cmpint (cudaMalloc (&device, 100), ==, 0);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_fake_launch (stream, device, 100);
  arena_pinned_cache_record_stream (cache, g_bytes_get_data (a, NULL), (guintptr) stream);
  g_bytes_unref (a);
  g_bytes_unref (b);
  assert_figures (cache, 0, 8192, 4096);

  arena_fake_step (stream, 1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  cuda_test_sweep ();
  assert_figures (cache, 0, 8192 + 4096, 0);
  a = cuda_test_take (cache, 4096);
  assert_figures (cache, 4096, 8192, 0);
  g_assert_cmpuint (cuda_test_get_figures (cache).n_reuses, ==, 1);
  g_bytes_unref (a);
  g_bytes_unref (cuda_test_take (cache, 16384));
  assert_figures (cache, 0, 16384, 0);
  g_assert_cmpint (cuda_test_get_figures (cache).allocation_time, >=, 0);

  arena_pinned_cache_unref (cache);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/44-figures-are-exact/all", test_figures);
  return g_test_run ();
}
