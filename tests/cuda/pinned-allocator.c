/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "base/arena-error.h"
#include "cuda/arena-pinned-allocator.h"

/* F135: the allocator as an object: limits, statistics, streams, and what a script may do wrong. */

static ArenaPinnedAllocator *
allocator_new (void)
{
  g_autoptr(GError) error = NULL;
  ArenaPinnedAllocator *allocator = arena_pinned_allocator_new (cuda_test_get_context (), &error);

  g_assert_no_error (error);
  return allocator;
}

static GBytes *
alloc (ArenaPinnedAllocator *allocator,
       gsize                 size)
{
  g_autoptr(GError) error = NULL;
  GBytes *bytes = arena_pinned_allocator_alloc (allocator, size, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, size);
  return bytes;
}

static void
test_limits (void)
{
  g_autoptr(ArenaPinnedAllocator) allocator = allocator_new ();
  g_autoptr(GError) error = NULL;
  GBytes *bytes;

  g_assert_true (arena_pinned_allocator_get_context (allocator) == cuda_test_get_context ());
  g_assert_cmpuint (arena_pinned_allocator_get_max_cached_bytes (allocator), ==, 256 << 20);
  g_assert_cmpuint (arena_pinned_allocator_get_limit_bytes (allocator), ==, 0);
  g_object_set (allocator, "limit-bytes", (guint64) 8192, "max-cached-bytes", (guint64) 4096, NULL);

  bytes = alloc (allocator, 5000);
  g_assert_null (arena_pinned_allocator_alloc (allocator, 1, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "8192");
  g_bytes_unref (bytes);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 1);
  g_bytes_unref (alloc (allocator, 0));
}

static void
test_stats (void)
{
  g_autoptr(ArenaPinnedAllocator) allocator = allocator_new ();
  g_autoptr(ArenaPinnedStats) stats = NULL, copy = NULL;
  GBytes *used = alloc (allocator, 5000);

  g_bytes_unref (alloc (allocator, 100));
  g_bytes_unref (alloc (allocator, 100));
  stats = arena_pinned_allocator_dup_stats (allocator);
  copy = arena_pinned_stats_copy (stats);
  g_assert_cmpuint (arena_pinned_stats_get_allocated_bytes (copy), ==, 8192 + 4096);
  g_assert_cmpuint (arena_pinned_stats_get_used_bytes (copy), ==, 8192);
  g_assert_cmpuint (arena_pinned_stats_get_cached_bytes (copy), ==, 4096);
  g_assert_cmpuint (arena_pinned_stats_get_waiting_bytes (copy), ==, 0);
  g_assert_cmpuint (arena_pinned_stats_get_n_allocations (copy), ==, 2);
  g_assert_cmpuint (arena_pinned_stats_get_n_reuses (copy), ==, 1);
  g_assert_cmpuint (arena_pinned_stats_get_n_frees (copy), ==, 0);
  g_assert_cmpint (arena_pinned_stats_get_allocation_time (copy), >=, 0);
  g_assert_cmpint (arena_pinned_stats_get_free_time (copy), ==, 0);
  arena_pinned_allocator_trim (allocator);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 1);
  g_bytes_unref (used);
}

static void
test_streams (void)
{
  g_autoptr(ArenaPinnedAllocator) allocator = allocator_new ();
  g_autoptr(GBytes) foreign = cuda_test_make_bytes (100, 1), empty = g_bytes_new (NULL, 0);
  g_autoptr(GError) error = NULL;
  GBytes *bytes = alloc (allocator, 100), *part = g_bytes_new_from_bytes (bytes, 50, 10);

  g_assert_true (arena_pinned_allocator_record_stream (allocator, part, 1, &error));
  g_assert_true (arena_pinned_allocator_record_stream (allocator, empty, 1, &error));
  g_assert_false (arena_pinned_allocator_record_stream (allocator, foreign, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "100 bytes");
  g_bytes_unref (bytes);
  g_assert_cmpuint (arena_fake_count ("cudaEventRecord"), ==, 0);
  g_bytes_unref (part);
  g_assert_cmpuint (arena_fake_count ("cudaEventRecord"), ==, 1);
}

static void
test_by_hand (void)
{
  g_autoptr(ArenaPinnedAllocator) allocator = g_object_new (ARENA_TYPE_PINNED_ALLOCATOR, NULL);
  g_autoptr(ArenaCudaContext) context = g_object_new (ARENA_TYPE_CUDA_CONTEXT, NULL);
  g_autoptr(ArenaPinnedStats) stats = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_pinned_allocator_alloc (allocator, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "not initialised");
  g_assert_false (g_initable_init (G_INITABLE (allocator), NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "context");
  g_assert_null (arena_pinned_allocator_new (context, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  arena_pinned_allocator_trim (allocator);
  stats = arena_pinned_allocator_dup_stats (allocator);
  g_assert_cmpuint (arena_pinned_stats_get_allocated_bytes (stats), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/pinned-allocator/limits", test_limits);
  cuda_test_add ("/arena/cuda/pinned-allocator/stats", test_stats);
  cuda_test_add ("/arena/cuda/pinned-allocator/streams", test_streams);
  cuda_test_add ("/arena/cuda/pinned-allocator/by-hand", test_by_hand);
  return g_test_run ();
}
