/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-record.h"
#include "arena-test.h"
#include "base/arena-error.h"

/* A record of what was received. */

static const guint8 data[400] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

static void
append (ArenaLoopback *loop,
        const char    *name,
        gsize          size)
{
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, name, ARENA_DTYPE_UINT8, &(guint64) { size }, 1,
                                                      GPOINTER_TO_SIZE (data), size, NULL, 0, NULL), >=, 0);
}

static void
test_describes_an_envelope (void)
{
  g_autoptr(ArenaLoopback) loop = arena_loopback_new (4096, 2048, 64);
  g_autoptr(ArenaUnit) unit = NULL;
  g_autofree guint8 *record = NULL;
  g_autoptr(GBytes) storage = NULL;
  g_autoptr(GError) error = NULL;
  ArenaPackedField field;
  gsize size;

  arena_loopback_open (loop);
  arena_unit_builder_set_value (loop->builder, g_variant_new_string ("v"), NULL);
  arena_unit_builder_set_payload (loop->builder, "t", (const guint8 *) "pay", 3, NULL);
  append (loop, "a", 100);
  append (loop, NULL, 5);
  append (loop, "empty", 0);
  append (loop, "b", 300);
  arena_unit_builder_append_address (loop->builder, "s", ARENA_DTYPE_INT16, (guint64[]) { 3, 4 }, 2,
                                     GPOINTER_TO_SIZE (data), 24, (gint64[]) { 2, 6 }, 2, NULL);
  unit = arena_loopback_send (loop);
  record = arena_unit_take_packed (unit, &size, &storage, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (storage), ==, 128 + 300);

  arena_record_read (record, size, 3, &field);
  g_assert_cmpstr (field.name, ==, "b");
  g_assert_cmpuint (field.position, ==, 128);
  g_assert_cmpmem ((const guint8 *) g_bytes_get_data (storage, NULL) + field.position, field.size, data, 300);
  arena_record_read (record, size, 4, &field);
  g_assert_cmpuint (field.flags, ==, ARENA_PACKED_HAS_STRIDES | ARENA_PACKED_IN_RECORD);
  g_assert_cmpuint (field.position % 16, ==, 0);
  g_assert_cmpint (field.byte_strides[1], ==, 6);
  g_assert_cmpmem (record + field.position, 24, data, 24);
  g_assert_cmpuint (field.position + 24, ==, size);
  arena_record_read (record, size, 2, &field);
  g_assert_cmpuint (field.position | field.size, ==, 0);
}

/* A record of small fields alone is one that can be sent as it stands. */
static void
test_is_its_own_inverse (void)
{
  g_autoptr(ArenaLoopback) loop = arena_loopback_new (4096, 2048, 1000);
  g_autoptr(ArenaUnit) unit = NULL;
  g_autofree guint8 *record = NULL;
  g_autoptr(GBytes) storage = NULL;
  g_autoptr(GError) error = NULL;
  ArenaPackedRecord packed;
  gsize size;

  arena_loopback_open (loop);
  append (loop, "a", 100);
  append (loop, NULL, 5);
  arena_unit_builder_set_value (loop->builder, g_variant_new_parsed ("[1, 2]"), NULL);
  unit = arena_loopback_send (loop);
  record = arena_unit_take_packed (unit, &size, &storage, NULL);
  g_assert_null (storage);
  arena_packed_record_init (&packed, record, size, 64, &error);
  g_assert_no_error (error);
  arena_packed_record_clear (&packed);
}

static void
test_take_releases (void)
{
  g_autoptr(ArenaLoopback) loop = arena_loopback_new (4096, 2048, 64);
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GBytes) storage = NULL;
  g_autofree guint8 *record = NULL;
  gsize size = 1;

  arena_loopback_open (loop);
  append (loop, "a", 100);
  unit = arena_loopback_send (loop);
  record = arena_unit_take_packed (unit, &size, &storage, NULL);
  g_assert_true (arena_unit_get_released (unit));
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 1);
  g_assert_cmpmem (g_bytes_get_data (storage, NULL), 100, data, 100);

  g_assert_null (arena_unit_take_packed (unit, &size, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "was released");
  g_assert_cmpuint (size, ==, 0);
}

static void
note_free (gpointer freed)
{
  *(gboolean *) freed = TRUE;
}

static GBytes *
noted (gsize     size,
       gboolean *freed)
{
  *freed = FALSE;
  return g_bytes_new_with_free_func (data, size, note_free, freed);
}

/* One piece is passed on as it is; of two a copy is made, which keeps neither. */
static void
test_join (void)
{
  gboolean first = FALSE, second = FALSE;
  g_autoptr(GError) error = NULL;
  GBytes *joined;
  guint64 start;

  g_assert_true (arena_packed_join (NULL, NULL, &joined, &start, &error));
  g_assert_null (joined);
  g_assert_cmpuint (start, ==, 0);

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (arena_packed_join (i == 0 ? noted (100, &first) : NULL, i == 1 ? noted (100, &first) : NULL, &joined,
                                        &start, &error));
      g_assert_cmpuint (start, ==, 0);
      g_assert_true (g_bytes_get_data (joined, NULL) == data);
      g_assert_false (first);
      g_bytes_unref (joined);
      g_assert_true (first);
    }

  g_assert_true (arena_packed_join (noted (100, &first), noted (300, &second), &joined, &start, &error));
  g_assert_true (first && second);
  g_assert_cmpuint (start, ==, 128);
  g_assert_cmpuint (g_bytes_get_size (joined), ==, 428);
  g_assert_cmpuint (GPOINTER_TO_SIZE (g_bytes_get_data (joined, NULL)) % 64, ==, 0);
  g_assert_cmpmem (g_bytes_get_data (joined, NULL), 100, data, 100);
  g_assert_cmpmem ((const guint8 *) g_bytes_get_data (joined, NULL) + 128, 300, data, 300);
  g_bytes_unref (joined);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/packed-encode/describes-an-envelope", test_describes_an_envelope);
  arena_test_add ("/arena/packed-encode/is-its-own-inverse", test_is_its_own_inverse);
  arena_test_add ("/arena/packed-encode/take-releases", test_take_releases);
  arena_test_add ("/arena/packed-encode/join", test_join);
  return g_test_run ();
}
