/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "backend/arena-ring-private.h"
#include "base/arena-error-private.h"

static void
test_new (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaRing) ring = arena_ring_new (1000, &error);
  guint64 capacity;

  g_assert_no_error (error);
  g_assert_cmpuint (arena_ring_get_capacity (ring), ==, 1000);
  g_object_get (ring, "capacity", &capacity, NULL);
  g_assert_cmpuint (capacity, ==, 1000);
}

/* F64 */
static void
test_arguments (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_ring_new (0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "capacity");
  g_assert_null (arena_ring_new (G_MAXSIZE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_null (arena_ring_new (0, NULL));
}

static void
test_oversize (void)
{
  g_autoptr (ArenaRing) usual = arena_ring_new (1000, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaRing) spilling = g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) 1000,
                                                   "oversize", ARENA_OVERSIZE_SPILL, NULL);
  ArenaOversize oversize;

  g_assert_no_error (error);
  g_assert_cmpint (arena_ring_get_oversize (usual), ==, ARENA_OVERSIZE_ERROR);
  g_assert_cmpint (arena_ring_get_oversize (spilling), ==, ARENA_OVERSIZE_SPILL);
  g_object_get (spilling, "oversize", &oversize, NULL);
  g_assert_cmpint (oversize, ==, ARENA_OVERSIZE_SPILL);
}

static void
test_label (void)
{
  g_autoptr (ArenaRing) unnamed = arena_ring_new (1000, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaRing) ring = g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) 1000,
                                              "label", "my ring", NULL);
  g_autofree char *label = NULL;
  g_autofree char *maps = NULL;

  g_assert_no_error (error);
  g_assert_null (arena_ring_get_label (unnamed));
  g_assert_cmpstr (arena_ring_get_label (ring), ==, "my ring");
  g_object_get (ring, "label", &label, NULL);
  g_assert_cmpstr (label, ==, "my ring");
  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  g_assert_nonnull (strstr (maps, "/memfd:arena-ring (deleted)\n"));
  g_assert_nonnull (strstr (maps, "/memfd:arena-my_ring (deleted)\n"));
}

/* F148: at construction, not by a signal later. */
static void
test_no_space (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_ring_new (G_GUINT64_CONSTANT (1) << 46, &error));
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) ring = NULL;

  g_cancellable_cancel (cancellable);
  ring = g_initable_new (ARENA_TYPE_RING, cancellable, &error, "capacity", (guint64) 10, NULL);
  g_assert_null (ring);
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* g_object_new() alone says nothing, so a script may well stop there. */
static void
test_uninitialised (void)
{
  g_autoptr (ArenaRing) ring = g_object_new (ARENA_TYPE_RING, "capacity", (guint64) 100, NULL);
  ArenaBackend *backend = ARENA_BACKEND (ring);
  g_autoptr (ArenaStats) stats = arena_ring_dup_stats (ring);
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

  g_assert_true (g_initable_init (G_INITABLE (ring), NULL, &error));
  g_assert_true (g_initable_init (G_INITABLE (ring), NULL, &error));
  g_assert_no_error (error);
  reader = arena_backend_open_reader (backend, &error);
  g_assert_no_error (error);
}

static void
test_failed_init (void)
{
  g_autoptr (ArenaRing) ring = g_object_new (ARENA_TYPE_RING, NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (g_initable_init (G_INITABLE (ring), NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
    }
  g_assert_null (arena_ring_peek_storage (ring));
}

static void
test_ends (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaRing) ring = arena_ring_new (100, &error);
  ArenaBackend *backend = ARENA_BACKEND (ring);

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
  arena_test_add ("/arena/ring/new", test_new);
  arena_test_add ("/arena/ring/arguments-are-checked", test_arguments);
  arena_test_add ("/arena/ring/oversize", test_oversize);
  arena_test_add ("/arena/ring/label-is-in-the-maps", test_label);
  arena_test_add ("/arena/ring/no-room-fails-the-constructor", test_no_space);
  arena_test_add ("/arena/ring/construction-can-be-cancelled", test_cancelled);
  arena_test_add ("/arena/ring/uninitialised-is-an-error", test_uninitialised);
  arena_test_add ("/arena/ring/failed-init-stays-uninitialised", test_failed_init);
  arena_test_add ("/arena/ring/ends-twice", test_ends);
  return g_test_run ();
}
