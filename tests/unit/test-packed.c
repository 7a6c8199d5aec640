/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-record.h"
#include "arena-test.h"
#include "base/arena-error.h"

#include <string.h>

/* A record that is to be sent. */

static const guint8 data[400] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

/* Exactly as long as told, for the address sanitizer, and at an odd address. */
static gboolean
check (const guint8  *record,
       gsize          size,
       GError       **error)
{
  g_autofree guint8 *copy = g_malloc (size + 1);
  ArenaPackedRecord packed;
  gboolean good;

  memcpy (copy + 1, record, size);
  good = arena_packed_record_init (&packed, copy + 1, size, 64, error);
  arena_packed_record_clear (&packed);
  return good;
}

static void
assert_refused (const guint8 *record,
                gsize         size,
                const char   *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (check (record, size, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "record: ", text);
}

static GBytes *
everything (void)
{
  g_autoptr(ArenaRecord) record = arena_record_new ();

  arena_record_field (record, "first", ARENA_DTYPE_INT16, (guint64[]) { 10, 20 }, 2, NULL, data, 400);
  arena_record_field (record, NULL, ARENA_DTYPE_FLOAT32, NULL, 0, NULL, data, 4);
  arena_record_field (record, "empty", ARENA_DTYPE_INT8, (guint64[]) { 0 }, 1, NULL, NULL, 0);
  arena_record_field (record, "turned", ARENA_DTYPE_INT16, (guint64[]) { 3, 4 }, 2, (gint64[]) { 2, 6 }, data, 24);
  arena_record_inline (record, "inside", "abc", 3);
  arena_record_payload (record, "text/plain", "hello", 5);
  arena_record_value (record, g_variant_new_parsed ("{'k': <uint32 7>}"));
  return arena_record_end (record);
}

static void
test_reads_what_was_written (void)
{
  g_autoptr(GBytes) bytes = everything ();
  g_autoptr(GError) error = NULL;
  gsize size;
  const guint8 *record = g_bytes_get_data (bytes, &size);
  ArenaPackedField field = { 0 };
  ArenaPackedRecord packed;

  g_assert_true (arena_packed_record_init (&packed, record, size, 64, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (packed.n_fields, ==, 5);
  g_assert_cmpuint (packed.storage_size, ==, 400);
  g_assert_cmpstr (packed.content_type, ==, "text/plain");
  g_assert_cmpmem (packed.payload, packed.payload_size, "hello", 5);
  g_assert_cmpstr (g_variant_get_type_string (packed.value), ==, "a{sv}");

  arena_packed_field_next (&field, &packed);
  g_assert_cmpstr (field.name, ==, "first");
  g_assert_cmpuint (field.address, ==, GPOINTER_TO_SIZE (data));
  g_assert_cmpuint (field.shape[1], ==, 20);
  arena_packed_field_next (&field, &packed);
  g_assert_null (field.name);
  arena_packed_field_next (&field, &packed);
  arena_packed_field_next (&field, &packed);
  g_assert_cmpint (field.byte_strides[1], ==, 6);
  arena_packed_field_next (&field, &packed);
  g_assert_cmpstr (field.name, ==, "inside");
  g_assert_cmpmem (GSIZE_TO_POINTER (field.address), field.size, "abc", 3);
  arena_packed_record_clear (&packed);
}

static void
test_every_length_is_checked (void)
{
  g_autoptr(GBytes) bytes = everything ();
  gsize size;
  const guint8 *record = g_bytes_get_data (bytes, &size);
  g_autofree guint8 *longer = g_malloc0 (size + 1);

  for (gsize n = 0; n < size; n++)
    assert_refused (record, n, "");
  memcpy (longer, record, size);
  assert_refused (longer, size + 1, "it ends at");
}

/* A word at a time says something impossible. */
static void
test_bad_words (void)
{
  const struct { guint word; guint64 value; const char *text; } bad[] = {
    { 0, 4097, "4097 fields" },
    { 0, G_MAXUINT64, "fields" },
    { 0, 6, "" },
    { 4, G_MAXUINT64, "content type lies beyond" },
    { 4, 0, "payload of 5 bytes without" },
    { 5, G_MAXUINT64 - 7, "payload lies beyond" },
    { 6, G_MAXUINT64, "value's type lies beyond" },
    { 7, G_MAXUINT64, "value lies beyond" },
    { 8, 0, "can't be at address 0x0" },
    { 8, G_MAXUINT64 - 2, "can't be at address" },
    { 9, 399, "has 399 bytes, its shape 400" },
    { 9, G_MAXUINT64, "its shape 400" },
    { 10, 0x12345, "unknown data type" },
    { 10, G_MAXUINT64, "unknown data type" },
    { 11, 4, "unknown flags 0x4" },
    { 11, 2, "not in the record" },
    { 12, 33, "33 dimensions" },
    { 12, G_MAXUINT64, "dimensions" },
    { 13, 1026, "a name of 1026 bytes" },
    { 13, 5, "is not UTF-8 with a NUL" },
    { 14, G_MAXUINT64, "has more than" },
  };
  g_autoptr(GBytes) bytes = everything ();
  gsize size;
  gconstpointer record = g_bytes_get_data (bytes, &size);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree guint8 *copy = g_memdup2 (record, size);

      memcpy (copy + bad[i].word * 8, &bad[i].value, 8);
      assert_refused (copy, size, bad[i].text);
    }
}

/* Word @word of the record made, before the NUL of what. */
static void
assert_bad_record (ArenaRecord *record,
                   const char  *text)
{
  g_autoptr(GBytes) bytes = arena_record_end (record);
  gsize size;
  const guint8 *made = g_bytes_get_data (bytes, &size);

  assert_refused (made, size, text);
}

static void
test_bad_contents (void)
{
  g_autofree char *long_type = g_strnfill (256, 'x');
  g_autoptr(ArenaRecord) name = arena_record_new ();
  g_autoptr(ArenaRecord) type = arena_record_new ();
  g_autoptr(ArenaRecord) too_long = arena_record_new ();
  g_autoptr(ArenaRecord) strides = arena_record_new ();
  g_autoptr(ArenaRecord) value = arena_record_new ();
  g_autoptr(ArenaRecord) handle = arena_record_new ();
  g_autoptr(GBytes) two = g_bytes_new_static ("\2", 1);

  arena_record_field (name, "a\xff", ARENA_DTYPE_INT8, NULL, 0, NULL, data, 1);
  assert_bad_record (name, "the name of field 0");
  arena_record_payload (type, "a\xff", "", 0);
  assert_bad_record (type, "content type");
  arena_record_payload (too_long, long_type, "", 0);
  assert_bad_record (too_long, "at most 255 bytes");
  arena_record_field (strides, NULL, ARENA_DTYPE_INT16, (guint64[]) { 3, 4 }, 2, (gint64[]) { 2, 7 }, data, 24);
  assert_bad_record (strides, "strides that lead out");
  arena_record_value (value, g_variant_new_from_bytes (G_VARIANT_TYPE_BOOLEAN, two, FALSE));
  assert_bad_record (value, "normal form");
  arena_record_value (handle, g_variant_new_handle (0));
  assert_bad_record (handle, "handle for field 0 of 0");
}

/* What is larger than anything counts as that, and does not wrap around. */
static void
test_sizes_saturate (void)
{
  g_autoptr(ArenaRecord) record = arena_record_new ();
  const guint64 shape[] = { G_MAXINT64 };
  g_autoptr(GBytes) bytes = NULL;
  ArenaPackedRecord packed;

  for (guint i = 0; i < 4; i++)
    arena_record_field (record, NULL, ARENA_DTYPE_INT8, shape, 1, NULL, data, G_MAXINT64);
  bytes = arena_record_end (record);
  g_assert_true (arena_packed_record_init (&packed, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), 64,
                                           NULL));
  g_assert_cmpuint (packed.storage_size, ==, G_MAXUINT64);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/packed/reads-what-was-written", test_reads_what_was_written);
  arena_test_add ("/arena/packed/every-length-is-checked", test_every_length_is_checked);
  arena_test_add ("/arena/packed/bad-words", test_bad_words);
  arena_test_add ("/arena/packed/bad-contents", test_bad_contents);
  arena_test_add ("/arena/packed/sizes-saturate", test_sizes_saturate);
  return g_test_run ();
}
