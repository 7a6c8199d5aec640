/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "cuda/arena-pinned-class-private.h"

/* A dropped buffer serves the next request of its class, and no class wastes more than it says. */

static void
test_reuse (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), 1 << 24);
  GBytes *bytes = cuda_test_take (cache, 100000);
  gconstpointer first = g_bytes_get_data (bytes, NULL);

  g_assert_true (arena_fake_is_pinned (first, 100000));
  g_bytes_unref (bytes);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 0);

  bytes = cuda_test_take (cache, 131072);
  g_assert_true (g_bytes_get_data (bytes, NULL) == first);
  g_bytes_unref (bytes);
  bytes = cuda_test_take (cache, 131073);
  g_assert_false (g_bytes_get_data (bytes, NULL) == first);
  g_bytes_unref (bytes);
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 2);
  arena_pinned_cache_unref (cache);
  g_assert_cmpuint (arena_fake_count ("cudaFreeHost"), ==, 2);
}

static void
check_class (gsize size,
             gsize waste_per_mille)
{
  guint index, next_index;
  gsize capacity, next;

  g_assert_true (arena_pinned_class_find (size, &index, &capacity));
  g_assert_cmpuint (index, <, ARENA_PINNED_N_CLASSES);
  g_assert_cmpuint (capacity, >=, size);
  g_assert_cmpuint (capacity % ARENA_PINNED_PAGE, ==, 0);
  if (size >= ARENA_PINNED_PAGE)
    g_assert_cmpuint ((capacity - size) / (size / 1000 + 1), <=, waste_per_mille);

  /* What a class has is in that class, and one byte more isn't. */
  g_assert_true (arena_pinned_class_find (capacity, &next_index, &next));
  g_assert_cmpuint (next, ==, capacity);
  g_assert_cmpuint (next_index, ==, index);
  g_assert_true (arena_pinned_class_find (capacity + 1, &next_index, &next));
  g_assert_cmpuint (next, >, capacity);
  g_assert_cmpuint (next_index, >=, index);
}

static void
test_classes (void)
{
  guint index;
  gsize capacity;

  for (gsize size = 1; size <= 1 << 20; size = size * 9 / 8 + 1)
    check_class (size, 1000);
  for (gsize size = (1 << 20) + 1; size <= 1 << 28; size += size / 29 + 1)
    check_class (size, 125);
  for (gsize size = (1 << 28) + 1; size <= (gsize) 1 << 36; size += size / 3)
    check_class (size, 1);
  g_assert_false (arena_pinned_class_find (0, &index, &capacity));
  g_assert_false (arena_pinned_class_find (G_MAXSIZE, &index, &capacity));
}

/* Exact sizes share a class and are told apart. */
static void
test_exact (void)
{
  ArenaPinnedCache *cache = arena_pinned_cache_new (cuda_test_get_device (), (guint64) 1 << 31);
  GBytes *bytes = cuda_test_take (cache, ((gsize) 1 << 28) + 4096);

  g_bytes_unref (bytes);
  bytes = cuda_test_take (cache, ((gsize) 1 << 28) + 8192);
  g_bytes_unref (bytes);
  bytes = cuda_test_take (cache, ((gsize) 1 << 28) + 4096);
  g_bytes_unref (bytes);
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 2);
  arena_pinned_cache_unref (cache);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/37-size-classes-reuse/dropped-buffer", test_reuse);
  cuda_test_add ("/arena/cuda/37-size-classes-reuse/classes", test_classes);
  cuda_test_add ("/arena/cuda/37-size-classes-reuse/exact", test_exact);
  return g_test_run ();
}
