/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-private.h"

#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

/* A unit as an object; test-unit-contents.c has what is in it. */

static gboolean storage_freed;

static void
free_storage (gpointer data)
{
  g_assert_false (storage_freed);
  storage_freed = TRUE;
  g_free (data);
}

/* One field of 2000 bytes in storage that says when it is freed, one inline. */
static ArenaUnit *
make_unit (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (4096, 4096, 1024);
  g_autoptr (GError) error = NULL;
  guint8 *data = g_malloc (2000);
  ArenaUnit *unit;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  arena_loopback_bytes (loop, "small", 20, 2);
  g_object_unref (arena_loopback_send (loop));

  arena_test_fill_pattern (data, 2000, 1);
  storage_freed = FALSE;
  unit = arena_unit_new (41, 3, arena_loopback_copy (loop), loop->published_size,
                         g_bytes_new_with_free_func (data, 2000, free_storage, data), NULL, &error);
  g_assert_no_error (error);
  return unit;
}

static void
test_properties (void)
{
  g_autoptr (ArenaUnit) unit = make_unit ();
  g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, 1, NULL);
  guint64 sequence, epoch;
  guint n_fields, n_exports;
  gboolean released;

  g_assert_nonnull (view);
  g_object_get (unit, "sequence", &sequence, "epoch", &epoch, "n-fields", &n_fields, "n-exports", &n_exports,
                "released", &released, NULL);
  g_assert_cmpuint (sequence, ==, 41);
  g_assert_cmpuint (epoch, ==, 3);
  g_assert_cmpuint (n_fields, ==, 2);
  g_assert_cmpuint (n_exports, ==, 1);
  g_assert_false (released);

  g_assert_cmpuint (arena_unit_get_sequence (unit), ==, 41);
  g_assert_cmpuint (arena_unit_get_epoch (unit), ==, 3);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 2);
  arena_unit_release (unit);
  g_object_get (unit, "released", &released, NULL);
  g_assert_true (released);
}

static void
test_unref_frees (void)
{
  g_object_unref (make_unit ());
  g_assert_true (storage_freed);
}

static void
test_release (void)
{
  g_autoptr (ArenaUnit) unit = make_unit ();
  g_autoptr (GError) error = NULL;
  gsize n_bytes;

  arena_unit_release (unit);
  g_assert_true (storage_freed);
  arena_unit_release (unit);

  g_assert_null (arena_unit_dup_bytes (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "41", "released");
  g_assert_null (arena_unit_dup_bytes (unit, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "released");
  g_assert_null (arena_unit_dup_field (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "released");
  g_assert_null (arena_unit_dup_value (unit, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "released");
  g_assert_null (arena_unit_copy_payload (unit, &n_bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "released");

  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 2);
  g_assert_cmpint (arena_unit_find_field (unit, "small"), ==, 1);
}

static void
test_view_keeps_storage (void)
{
  ArenaUnit *unit = make_unit ();
  GBytes *first = arena_unit_dup_bytes (unit, 0, NULL);
  GBytes *second = arena_unit_dup_bytes (unit, 0, NULL);

  g_assert_true (first != second);
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 2);
  arena_unit_release (unit);
  g_assert_false (storage_freed);
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 2);
  g_bytes_unref (first);
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 1);
  g_object_unref (unit);
  g_assert_false (storage_freed);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (second, NULL), 2000, 1));
  g_bytes_unref (second);
  g_assert_true (storage_freed);
}

/* Whoever keeps a label doesn't keep the segment of its image. */
static void
test_small_view_keeps_no_storage (void)
{
  ArenaUnit *unit = make_unit ();
  GBytes *small = arena_unit_dup_bytes (unit, 1, NULL);

  g_object_unref (unit);
  g_assert_true (storage_freed);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (small, NULL), 20, 2));
  g_bytes_unref (small);
}

static void
test_run_dispose (void)
{
  g_autoptr (ArenaUnit) unit = make_unit ();
  g_autoptr (GError) error = NULL;

  g_object_run_dispose (G_OBJECT (unit));
  g_assert_true (storage_freed);
  g_assert_null (arena_unit_dup_bytes (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

/* Also on failure envelope and storage are taken over. */
static void
test_bad_envelope (void)
{
  g_autoptr (GError) error = NULL;
  guint8 *data = g_malloc (64);

  storage_freed = FALSE;
  g_assert_null (arena_unit_new (0, 1, g_malloc0 (64), 64, g_bytes_new_with_free_func (data, 64, free_storage, data),
                                 NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
  g_assert_true (storage_freed);
  g_assert_null (arena_unit_new (0, 1, NULL, 0, NULL, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
}

static int
use_in_child (gpointer data)
{
  ArenaUnit *unit = data;
  g_autoptr (GError) error = NULL;
  gsize n_bytes;

  g_assert_null (arena_unit_dup_bytes (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED, "41");
  g_assert_null (arena_unit_dup_field (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_null (arena_unit_dup_value (unit, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_null (arena_unit_copy_payload (unit, &n_bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_object_unref (unit);
  return 0;
}

static void
test_forked (void)
{
  g_autoptr (ArenaUnit) unit = make_unit ();
  g_autoptr (GBytes) view = NULL;

  arena_test_assert_child (use_in_child, unit);
  view = arena_unit_dup_bytes (unit, 0, NULL);
  g_assert_nonnull (view);
}

/* What a binding may always do; it is no unit, and says so. */
static void
test_constructed_by_hand (void)
{
  g_autoptr (ArenaUnit) unit = g_object_new (ARENA_TYPE_UNIT, NULL);
  g_autoptr (GError) error = NULL;
  guint n_fields = 9, n_exports = 9;
  gboolean released = FALSE;
  gsize n_bytes;

  g_object_get (unit, "n-fields", &n_fields, "n-exports", &n_exports, "released", &released, NULL);
  g_assert_cmpuint (n_fields, ==, 0);
  g_assert_cmpuint (n_exports, ==, 0);
  g_assert_true (released);
  g_assert_cmpint (arena_unit_find_field (unit, "x"), ==, -1);

  g_assert_null (arena_unit_dup_bytes (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  g_assert_null (arena_unit_dup_field (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  g_assert_null (arena_unit_dup_value (unit, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  g_assert_null (arena_unit_copy_payload (unit, &n_bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  g_assert_null (arena_unit_dup_storage (unit, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  g_assert_null (arena_unit_take_packed (unit, &n_bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "by hand");
  arena_unit_release (unit);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/unit/properties", test_properties);
  arena_test_add ("/arena/unit/unref-frees", test_unref_frees);
  arena_test_add ("/arena/unit/release", test_release);
  arena_test_add ("/arena/unit/view-keeps-storage", test_view_keeps_storage);
  arena_test_add ("/arena/unit/small-view-keeps-no-storage", test_small_view_keeps_no_storage);
  arena_test_add ("/arena/unit/run-dispose", test_run_dispose);
  arena_test_add ("/arena/unit/bad-envelope", test_bad_envelope);
  arena_test_add ("/arena/unit/forked", test_forked);
  arena_test_add ("/arena/unit/constructed-by-hand", test_constructed_by_hand);
  return g_test_run ();
}
