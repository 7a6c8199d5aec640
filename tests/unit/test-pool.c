/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "backend/arena-pool-private.h"
#include "base/arena-error-private.h"

static void
test_new (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaPool) pool = arena_pool_new (1000, 3, &error);
  guint64 segment_size;
  guint count;

  g_assert_no_error (error);
  g_assert_cmpuint (arena_pool_get_segment_size (pool), ==, 1000);
  g_assert_cmpuint (arena_pool_get_count (pool), ==, 3);
  g_object_get (pool, "segment-size", &segment_size, "count", &count, NULL);
  g_assert_cmpuint (segment_size, ==, 1000);
  g_assert_cmpuint (count, ==, 3);
}

/* F63 */
static void
test_arguments (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_pool_new (0, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "segment_size");
  g_assert_null (arena_pool_new (1, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "count");
  g_assert_null (arena_pool_new (1, 65537, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "65536");
  g_assert_null (arena_pool_new (G_MAXSIZE, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_null (arena_pool_new (G_GUINT64_CONSTANT (1) << 45, 65536, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_null (arena_pool_new (0, 1, NULL));
}

static void
test_reuse (void)
{
  g_autoptr (ArenaPool) usual = arena_pool_new (1000, 3, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaPool) any = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) 1000, "count", 3,
                                              "reuse", ARENA_REUSE_ANY, NULL);
  ArenaReuse reuse;

  g_assert_no_error (error);
  g_assert_cmpint (arena_pool_get_reuse (usual), ==, ARENA_REUSE_IN_ORDER);
  g_assert_cmpint (arena_pool_get_reuse (any), ==, ARENA_REUSE_ANY);
  g_object_get (any, "reuse", &reuse, NULL);
  g_assert_cmpint (reuse, ==, ARENA_REUSE_ANY);
}

static void
test_oversize (void)
{
  g_autoptr (ArenaPool) usual = arena_pool_new (1000, 3, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaPool) spilling = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) 1000, "count", 3,
                                                   "oversize", ARENA_OVERSIZE_SPILL, NULL);
  ArenaOversize oversize;

  g_assert_no_error (error);
  g_assert_cmpint (arena_pool_get_oversize (usual), ==, ARENA_OVERSIZE_ERROR);
  g_assert_cmpint (arena_pool_get_oversize (spilling), ==, ARENA_OVERSIZE_SPILL);
  g_object_get (spilling, "oversize", &oversize, NULL);
  g_assert_cmpint (oversize, ==, ARENA_OVERSIZE_SPILL);
}

static void
test_label (void)
{
  g_autoptr (ArenaPool) unnamed = arena_pool_new (1000, 3, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaPool) pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) 1000, "count", 3,
                                              "label", "my pool", NULL);
  g_autofree char *label = NULL;
  g_autofree char *maps = NULL;

  g_assert_no_error (error);
  g_assert_null (arena_pool_get_label (unnamed));
  g_assert_cmpstr (arena_pool_get_label (pool), ==, "my pool");
  g_object_get (pool, "label", &label, NULL);
  g_assert_cmpstr (label, ==, "my pool");
  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  g_assert_nonnull (strstr (maps, "/memfd:arena-pool (deleted)\n"));
  g_assert_nonnull (strstr (maps, "/memfd:arena-my_pool (deleted)\n"));
}

/* F148: at construction, not by a signal later. */
static void
test_no_space (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_pool_new (G_GUINT64_CONSTANT (1) << 45, 2, &error));
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) pool = NULL;

  g_cancellable_cancel (cancellable);
  pool = g_initable_new (ARENA_TYPE_POOL, cancellable, &error, "segment-size", (guint64) 10, "count", 1, NULL);
  g_assert_null (pool);
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* g_object_new() alone says nothing, so a script may well stop there. */
static void
test_uninitialised (void)
{
  g_autoptr (ArenaPool) pool = g_object_new (ARENA_TYPE_POOL, "segment-size", (guint64) 100, "count", 2, NULL);
  ArenaBackend *backend = ARENA_BACKEND (pool);
  g_autoptr (ArenaStats) stats = arena_pool_dup_stats (pool);
  g_autoptr (ArenaReader) reader = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (arena_stats_get_reserved_bytes (stats), ==, 0);
  g_assert_null (arena_backend_open_reader (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "not initialised");
  g_assert_null (arena_backend_open_writer (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_backend_shutdown (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_backend_close (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_backend_unlink (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);

  g_assert_true (g_initable_init (G_INITABLE (pool), NULL, &error));
  g_assert_true (g_initable_init (G_INITABLE (pool), NULL, &error));
  g_assert_no_error (error);
  reader = arena_backend_open_reader (backend, &error);
  g_assert_no_error (error);
}

static void
test_failed_init (void)
{
  g_autoptr (ArenaPool) pool = g_object_new (ARENA_TYPE_POOL, NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (g_initable_init (G_INITABLE (pool), NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
    }
  g_assert_null (arena_pool_peek_storage (pool));
}

static void
test_ends (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaPool) pool = arena_pool_new (100, 2, &error);
  ArenaBackend *backend = ARENA_BACKEND (pool);

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (arena_backend_shutdown (backend, &error));
      g_assert_true (arena_backend_close (backend, &error));
      g_assert_true (arena_backend_unlink (backend, &error));
      g_assert_no_error (error);
    }

  g_assert_null (arena_backend_open_reader (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/new", test_new);
  arena_test_add ("/arena/pool/arguments-are-checked", test_arguments);
  arena_test_add ("/arena/pool/reuse", test_reuse);
  arena_test_add ("/arena/pool/oversize", test_oversize);
  arena_test_add ("/arena/pool/label-is-in-the-maps", test_label);
  arena_test_add ("/arena/pool/no-room-fails-the-constructor", test_no_space);
  arena_test_add ("/arena/pool/construction-can-be-cancelled", test_cancelled);
  arena_test_add ("/arena/pool/uninitialised-is-an-error", test_uninitialised);
  arena_test_add ("/arena/pool/failed-init-stays-uninitialised", test_failed_init);
  arena_test_add ("/arena/pool/ends-twice", test_ends);
  return g_test_run ();
}
