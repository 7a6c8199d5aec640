/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-quarantine.h"

#include <string.h>

/* A buffer that CUDA doesn't free is kept, counted and tried again; it is never handed out meanwhile. */

static void
test_retried (void)
{
  ArenaCudaDevice *device = cuda_test_get_device ();
  ArenaPinnedCache *cache = arena_pinned_cache_new (device, 0);
  g_autoptr(GError) error = NULL;

  arena_fake_inject ("cudaFreeHost", 1, 2, CUDA_INVALID_VALUE, FALSE);
  g_bytes_unref (cuda_test_take (cache, 4096));
  cuda_test_assert_kept (0, 1);
  g_assert_cmpuint (cuda_test_get_figures (cache).waiting_bytes, ==, 4096);
  g_assert_false (arena_cuda_device_retry (device, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_QUARANTINED, "1 uses of 4096 bytes", "cudaFreeHost",
                           "cudaErrorInvalidValue (1)");
  g_assert_true (arena_cuda_device_retry (device, &error));
  g_assert_no_error (error);
  cuda_test_assert_kept (0, 0);
  g_assert_cmpuint (cuda_test_get_figures (cache).allocated_bytes, ==, 0);
  arena_pinned_cache_unref (cache);
}

/* What is left when the cache goes is no worse off. */
static void
test_after_the_cache (void)
{
  ArenaCudaDevice *device = cuda_test_get_device ();
  ArenaPinnedCache *cache = arena_pinned_cache_new (device, 1 << 20);
  g_autoptr(GPtrArray) entries = NULL;

  g_bytes_unref (cuda_test_take (cache, 4096));
  g_bytes_unref (cuda_test_take (cache, 8192));
  arena_fake_inject ("cudaFreeHost", 1, 1, CUDA_INVALID_VALUE, FALSE);
  arena_pinned_cache_unref (cache);
  cuda_test_assert_kept (0, 1);
  entries = arena_cuda_context_list_quarantine (cuda_test_get_context ());
  g_assert_cmpuint (entries->len, ==, 1);
  g_assert_nonnull (strstr (arena_quarantine_get_reason (entries->pdata[0]), "cudaFreeHost"));
  g_assert_cmpuint (arena_quarantine_get_bytes (entries->pdata[0]), ==, 8192);
  g_assert_cmpint (arena_quarantine_get_age (entries->pdata[0]), >=, 0);
  g_assert_true (arena_cuda_device_retry (device, NULL));
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 3);
}

/* The process is exiting: it is left alone. */
static void
test_unloading (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 0);
  GBytes *bytes = cuda_test_take (cache, 4096);

  arena_fake_inject ("*", 1, -1, CUDA_UNLOADING, FALSE);
  g_bytes_unref (bytes);
  cuda_test_assert_kept (0, 1);
  arena_fake_reset ();
  cuda_test_sweep ();
  arena_pinned_cache_unref (cache);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/42-failed-free-is-retried/until-it-works", test_retried);
  cuda_test_add ("/arena/cuda/42-failed-free-is-retried/after-the-cache", test_after_the_cache);
  cuda_test_add ("/arena/cuda/42-failed-free-is-retried/unloading", test_unloading);
  return g_test_run ();
}
