/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* When CUDA has no more memory, what is cached is freed and CUDA asked once more; then it is an error. */

static void
assert_refused (ArenaPinnedCache *cache,
                gsize             size,
                const char       *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_pinned_cache_take (cache, size, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, text);
}

static void
test_trims (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);
  GBytes *bytes;

  g_bytes_unref (cuda_test_take (cache, 8192));
  g_bytes_unref (cuda_test_take (cache, 16384));
  arena_fake_pin_limit (40000);
  bytes = cuda_test_take (cache, 32768);
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 4);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 2);
  g_assert_cmpuint (cuda_test_get_figures (cache).allocated_bytes, ==, 32768);
  g_bytes_unref (bytes);
  arena_pinned_cache_unref (cache);
}

static void
test_fails (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);

  arena_fake_inject ("cudaHostAlloc", 1, -1, CUDA_MEMORY_ALLOCATION, FALSE);
  assert_refused (cache, 20000, "cudaErrorMemoryAllocation (2)");
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 2);
  g_assert_cmpuint (cuda_test_get_figures (cache).allocated_bytes, ==, 0);
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);
  arena_pinned_cache_unref (cache);
}

/* Another error is no lack of memory. */
static void
test_other_error (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);
  g_autoptr(GError) error = NULL;

  g_bytes_unref (cuda_test_take (cache, 100));
  arena_fake_inject ("cudaHostAlloc", 1, 1, CUDA_NOT_SUPPORTED, FALSE);
  g_assert_null (arena_pinned_cache_take (cache, 20000, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED, "cudaHostAlloc", "32768 bytes");
  g_assert_cmpuint (cuda_test_get_figures (cache).cached_bytes, ==, 4096);
  arena_pinned_cache_unref (cache);
}

static void
test_absurd_size (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 20);

  assert_refused (cache, G_MAXSIZE, "can't be pinned");
  arena_pinned_cache_unref (cache);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/40-out-of-memory-trims/then-it-fits", test_trims);
  cuda_test_add ("/arena/cuda/40-out-of-memory-trims/then-it-fails", test_fails);
  cuda_test_add ("/arena/cuda/40-out-of-memory-trims/other-error", test_other_error);
  cuda_test_add ("/arena/cuda/40-out-of-memory-trims/absurd-size", test_absurd_size);
  return g_test_run ();
}
