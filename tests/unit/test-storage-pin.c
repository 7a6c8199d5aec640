/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "cuda/arena-cuda-error.h"


/* Where there is no CUDA: the consumer's side of a pinned arena says so, and nothing else notices. tests/cuda has the
 * rest. */

static ArenaBackend *
new_pinned (GType    type,
            gboolean read_only)
{
  g_autoptr(GError) error = NULL;
  gboolean pin_memory = FALSE;
  ArenaBackend *backend;

  if (type == ARENA_TYPE_RING)
    backend = g_initable_new (type, NULL, &error, "capacity", G_GUINT64_CONSTANT (8192), "pin-memory", TRUE, NULL);
  else
    backend = g_initable_new (type, NULL, &error, "segment-size", G_GUINT64_CONSTANT (4096), "count", 2,
                              "read-only", read_only, "pin-memory", TRUE, NULL);
  g_assert_no_error (error);
  g_object_get (backend, "pin-memory", &pin_memory, NULL);
  g_assert_true (pin_memory);
  return backend;
}

static void
assert_no_reader (ArenaBackend *backend)
{
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (arena_backend_open_reader (backend, &error));
      g_assert_nonnull (error);
      g_assert_true (error->domain == ARENA_CUDA_ERROR);
      g_clear_error (&error);
    }
}

static void
test_no_reader (void)
{
  g_autoptr(ArenaBackend) pool = new_pinned (ARENA_TYPE_POOL, FALSE);
  g_autoptr(ArenaBackend) read_only = new_pinned (ARENA_TYPE_POOL, TRUE);
  g_autoptr(ArenaBackend) ring = new_pinned (ARENA_TYPE_RING, FALSE);

  assert_no_reader (pool);
  assert_no_reader (read_only);
  assert_no_reader (ring);
}

/* The writer's side has nothing to do with it, and neither has what ends the arena. */
static void
test_writer (void)
{
  g_autoptr(ArenaBackend) pool = new_pinned (ARENA_TYPE_POOL, FALSE);
  g_autoptr(ArenaStats) stats = arena_pool_dup_stats (ARENA_POOL (pool));
  g_autoptr(ArenaWriter) writer = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (arena_stats_get_pinned_bytes (stats), ==, 0);
  writer = arena_backend_open_writer (pool, &error);
  g_assert_no_error (error);
  g_assert_true (arena_backend_shutdown (pool, &error));
  g_assert_true (arena_backend_unlink (pool, &error));
  g_assert_true (arena_backend_close (pool, &error));
  g_assert_true (arena_backend_close (pool, &error));
  g_assert_no_error (error);
}

static void
test_default (void)
{
  g_autoptr(ArenaPool) pool = arena_pool_new (4096, 2, NULL);
  g_autoptr(ArenaRing) ring = arena_ring_new (4096, NULL);

  g_assert_false (arena_pool_get_pin_memory (pool));
  g_assert_false (arena_ring_get_pin_memory (ring));
}

int
main (int    argc,
      char **argv)
{
  g_setenv ("ARENA_CUDART", "/nonexistent/libcudart.so", TRUE);
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/storage-pin/no-reader-without-cuda", test_no_reader);
  arena_test_add ("/arena/storage-pin/writer-needs-none", test_writer);
  arena_test_add ("/arena/storage-pin/not-by-default", test_default);
  return g_test_run ();
}
