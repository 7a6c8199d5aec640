/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* What is cached is bounded, the oldest goes first, and what is page-locked at all may be bounded too (C91). */

static void
test_oldest_first (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 3 * 4096);
  gconstpointer data[4];
  GBytes *bytes[4];

  for (guint i = 0; i < 4; i++)
    {
      bytes[i] = cuda_test_take (cache, 4096);
      data[i] = g_bytes_get_data (bytes[i], NULL);
    }
  for (guint i = 0; i < 4; i++)
    g_bytes_unref (bytes[i]);

  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 1);
  g_assert_cmpuint (cuda_test_get_call ("cudaFreeHost", 0).ptr, ==, (guintptr) data[0]);
  arena_pinned_cache_set_max (cache, 4096);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 3);
  g_assert_cmpuint (cuda_test_get_figures (cache).cached_bytes, ==, 4096);
  arena_pinned_cache_trim (cache);
  g_assert_cmpuint (cuda_test_get_figures (cache).allocated_bytes, ==, 0);
  arena_pinned_cache_unref (cache);
}

static void
test_larger_than_all (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 8192);

  g_bytes_unref (cuda_test_take (cache, 4096));
  g_bytes_unref (cuda_test_take (cache, 100000));
  g_assert_cmpuint (cuda_test_get_figures (cache).allocated_bytes, <=, 8192);
  arena_pinned_cache_unref (cache);
}

static void
test_limit (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);
  g_autoptr(GError) error = NULL;
  GBytes *bytes;

  arena_pinned_cache_set_limit (cache, 40960);
  g_bytes_unref (cuda_test_take (cache, 4096));
  bytes = cuda_test_take (cache, 32768);
  /* The cached one would be over. */
  g_bytes_unref (cuda_test_take (cache, 8192));
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 1);

  g_assert_null (arena_pinned_cache_take (cache, 16384, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "16384", "40960", "32768");
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 3);
  g_bytes_unref (bytes);
  g_bytes_unref (cuda_test_take (cache, 16384));
  arena_pinned_cache_unref (cache);
}

/* 50 sizes, a window of 8 kept: page-locked memory doesn't grow with what has passed. */
static void
test_many_units (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 256 << 10);
  g_autoptr(GRand) rand = g_rand_new_with_seed (1);
  GBytes *kept[8] = { NULL };
  gsize sizes[50];

  for (guint i = 0; i < 50; i++)
    sizes[i] = (gsize) g_rand_int_range (rand, 1, 100000);
  for (guint i = 0; i < 2000; i++)
    {
      GBytes **place = &kept[i % 8];

      g_clear_pointer (place, g_bytes_unref);
      *place = cuda_test_take (cache, sizes[g_rand_int_range (rand, 0, 50)]);
      g_assert_cmpuint (cuda_test_get_figures (cache).allocated_bytes, <=, (256 << 10) + 8 * 131072);
    }

  for (guint i = 0; i < 8; i++)
    g_bytes_unref (kept[i]);
  arena_pinned_cache_unref (cache);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/41-cached-bytes-limit/oldest-first", test_oldest_first);
  cuda_test_add ("/arena/cuda/41-cached-bytes-limit/larger-than-all", test_larger_than_all);
  cuda_test_add ("/arena/cuda/41-cached-bytes-limit/of-all-that-is-pinned", test_limit);
  cuda_test_add ("/arena/cuda/41-cached-bytes-limit/many-units", test_many_units);
  return g_test_run ();
}
