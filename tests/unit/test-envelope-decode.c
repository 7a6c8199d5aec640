/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-envelope-private.h"

#include "arena-test.h"
#include "base/arena-error.h"

#include <stddef.h>
#include <string.h>

/* One good envelope, and each word of it spoiled: the decoder says PROTOCOL, and why. The copy decoded is exactly as
 * long as it says, so a sanitizer sees a byte too far. */

#define STORAGE_SIZE 1008

/* Fields: 0 inline "a" (2,3) int16; 1 storage "big" (100,) uint8; 2 storage (10,11) float64 in Fortran order, unnamed;
 * 3 empty (0,4); 4 inline scalar. A value and a payload. */
static guint8 *
encode (gsize *size)
{
  const guint64 shapes[][2] = { { 2, 3 }, { 100 }, { 10, 11 }, { 0, 4 } };
  const gint64 strides[] = { 8, 80 };
  const ArenaEnvelopeField fields[] = {
    { .size = 12, .dtype = ARENA_DTYPE_INT16, .n_dims = 2, .name_size = 1,
      .kind = ARENA_PLACEMENT_INLINE | ARENA_FIELD_HAS_NAME },
    { .size = 100, .dtype = ARENA_DTYPE_UINT8, .n_dims = 1, .name_size = 3,
      .kind = ARENA_PLACEMENT_STORAGE | ARENA_FIELD_HAS_NAME },
    { .offset = 128, .size = STORAGE_SIZE - 128, .dtype = ARENA_DTYPE_FLOAT64, .n_dims = 2,
      .kind = ARENA_PLACEMENT_STORAGE | ARENA_FIELD_HAS_STRIDES },
    { .dtype = ARENA_DTYPE_INT32, .n_dims = 2, .name_size = 0, .kind = ARENA_PLACEMENT_EMPTY | ARENA_FIELD_HAS_NAME },
    { .size = 8, .dtype = ARENA_DTYPE_INT64, .n_dims = 0, .kind = ARENA_PLACEMENT_INLINE },
  };
  const char *const names[] = { "a", "big", NULL, "", NULL };
  g_autofree guint8 *area = g_malloc0 (4096);
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new ("(si)", "hello", 5));
  ArenaEnvelopeEncoder encoder;

  arena_envelope_encoder_init (&encoder);
  arena_envelope_encoder_begin (&encoder, area, 4096);
  g_assert_true (arena_envelope_encoder_set_payload (&encoder, "x/y", (const guint8 *) "payload", 7, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      ArenaEnvelopeField field = fields[i];

      if (arena_envelope_field_placement (&field) == ARENA_PLACEMENT_INLINE)
        field.offset = arena_envelope_encoder_take_data (&encoder, field.size);
      arena_envelope_encoder_add_field (&encoder, &field, names[i], shapes[MIN (i, 3)], strides);
    }
  g_assert_true (arena_envelope_encoder_set_value (&encoder, value, NULL));
  *size = arena_envelope_encoder_finish (&encoder);
  arena_envelope_encoder_clear (&encoder);
  return g_memdup2 (area, *size);
}

static void
test_good (void)
{
  gsize size;
  g_autofree guint8 *data = encode (&size);
  g_autoptr (GError) error = NULL;
  ArenaEnvelope envelope;

  arena_envelope_decode (&envelope, data, size, STORAGE_SIZE, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (envelope.header->n_fields, ==, 5);
  g_assert_cmpstr (arena_envelope_get_name (&envelope, &envelope.fields[1]), ==, "big");
  g_assert_null (arena_envelope_get_name (&envelope, &envelope.fields[2]));
  g_assert_cmpint (arena_envelope_get_strides (&envelope, &envelope.fields[2])[1], ==, 80);
  g_assert_null (arena_envelope_get_strides (&envelope, &envelope.fields[1]));
  g_assert_cmpuint (envelope.words[envelope.fields[2].words + 1], ==, 11);
  g_assert_cmpstr (arena_envelope_get_content_type (&envelope), ==, "x/y");
}

/* What is in the arena and what is outside are two rows, each with an end of its own. */
static void
test_outside (void)
{
  static const ArenaEnvelopeField fields[] = {
    { .size = 100, .dtype = ARENA_DTYPE_UINT8, .n_dims = 1, .kind = ARENA_PLACEMENT_SPILL },
    { .size = 100, .dtype = ARENA_DTYPE_UINT8, .n_dims = 1, .kind = ARENA_PLACEMENT_STORAGE },
    { .offset = 128, .size = 100, .dtype = ARENA_DTYPE_UINT8, .n_dims = 1, .kind = ARENA_PLACEMENT_SPILL },
  };
  static const guint64 wrong[][2] = { { 100, 227 }, { 100, 229 }, { 99, 228 }, { 101, 228 }, { 100, 0 }, { 0, 228 },
                                      { 228, 100 } };
  const guint64 shape[] = { 100 };
  g_autofree guint8 *area = g_malloc0 (1024);
  g_autoptr (GError) error = NULL;
  ArenaEnvelopeEncoder encoder;
  ArenaEnvelope envelope;
  gsize size;

  arena_envelope_encoder_init (&encoder);
  arena_envelope_encoder_begin (&encoder, area, 1024);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    arena_envelope_encoder_add_field (&encoder, &fields[i], NULL, shape, NULL);
  size = arena_envelope_encoder_finish (&encoder);
  arena_envelope_encoder_clear (&encoder);

  g_assert_true (arena_envelope_decode (&envelope, area, size, 100, 228, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_assert_false (arena_envelope_decode (&envelope, area, size, wrong[i][0], wrong[i][1], &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "envelope");
    }
}

static void
assert_refused (const guint8 *data,
                gsize         size,
                guint64       storage_size,
                const char   *text)
{
  g_autofree guint8 *exact = g_memdup2 (data, size);
  g_autoptr (GError) error = NULL;
  ArenaEnvelope envelope;

  g_assert_false (arena_envelope_decode (&envelope, exact, size, storage_size, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "envelope", text);
}

#define HEADER(member)       0, offsetof (ArenaEnvelopeHeader, member), sizeof (((ArenaEnvelopeHeader *) 0)->member)
#define FIELD(index, member) \
  1 + (index), offsetof (ArenaEnvelopeField, member), sizeof (((ArenaEnvelopeField *) 0)->member)
#define WORD(index)          100 + (index), 0, 8
#define NAME(index)          200 + (index), 0, 1

typedef struct
{
  guint where;
  gsize offset;
  gsize width;
  guint64 value;
  const char *text;
} Spoiled;

static const Spoiled table[] = {
  { HEADER (magic), 0, "magic" },
  { HEADER (version), 2, "version" },
  { HEADER (size), 0, "bytes" },
  { HEADER (size), G_MAXUINT32, "bytes" },
  { HEADER (n_fields), 0, "sections end" },
  { HEADER (n_fields), 6, "sections end" },
  { HEADER (n_fields), 4097, "4096" },
  { HEADER (n_fields), G_MAXUINT32, "4096" },
  { HEADER (table), 0, "table" },
  { HEADER (table), 63, "table" },
  { HEADER (table), 72, "sections end" },
  { HEADER (table), G_MAXUINT32 - 7, "sections end" },
  { HEADER (n_words), 0, "sections end" },
  { HEADER (n_words), G_MAXUINT32, "sections end" },
  { HEADER (names_size), 0, "sections end" },
  { HEADER (names_size), G_MAXUINT32, "sections end" },
  { HEADER (value), 0, "without a value" },
  { HEADER (value), 8, "value at 8" },
  { HEADER (value), 68, "value at 68" },
  { HEADER (value), 1024, "leads out" },
  { HEADER (value), G_MAXUINT32 - 7, "leads out" },
  { HEADER (value_type_size), 0, "leads out" },
  { HEADER (value_type_size), 4, "no text" },
  { HEADER (value_type_size), G_MAXUINT32, "leads out" },
  { HEADER (value_size), 200, "leads out" },
  { HEADER (value_size), G_MAXUINT32, "leads out" },
  { HEADER (payload), 0, "without a payload" },
  { HEADER (payload), 32, "payload at 32" },
  { HEADER (payload_size), G_MAXUINT32, "leads out" },
  { HEADER (payload_size), 40, "overlap" },
  { HEADER (content_type_size), G_MAXUINT32, "leads out" },
  { HEADER (reserved[0]), 1, "reserved" },
  { HEADER (reserved[2]), 1, "reserved" },
  /* C72: a wrong data type. */
  { FIELD (0, dtype), 0, "data type" },
  { FIELD (0, dtype), 0x070801, "data type" },
  { FIELD (0, dtype), ARENA_DTYPE_INT8, "12 bytes for a shape of 6" },
  { FIELD (2, dtype), ARENA_DTYPE_COMPLEX128, "strides lead out" },
  /* C72: a rank that is negative, too large, or just another. */
  { FIELD (0, n_dims), 0xff, "dimensions" },
  { FIELD (0, n_dims), 33, "dimensions" },
  { FIELD (1, n_dims), 2, "field 1" },
  { FIELD (4, n_dims), 1, "words" },
  { FIELD (0, words), 1, "words" },
  { FIELD (0, words), G_MAXUINT32, "words" },
  { FIELD (1, words), 0, "words" },
  { FIELD (0, size), 11, "11 bytes" },
  { FIELD (0, size), 0, "0 bytes" },
  { FIELD (0, size), G_MAXUINT64, "bytes" },
  { FIELD (1, size), 101, "101 bytes" },
  { FIELD (2, size), 879, "strides lead out" },
  { FIELD (2, size), STORAGE_SIZE - 127, "lead out" },
  { FIELD (2, size), G_MAXUINT64, "lead out" },
  { FIELD (2, size), STORAGE_SIZE - 128 - 8, "strides" },
  { FIELD (3, size), 4, "4 bytes" },
  /* C72: an offset that is the size, beyond it, or so large that offset + size wraps. */
  { FIELD (1, offset), STORAGE_SIZE, "lead out" },
  { FIELD (1, offset), 64, "lead out" },
  { FIELD (2, offset), 192, "lead out" },
  { FIELD (2, offset), 1024, "lead out" },
  { FIELD (2, offset), G_MAXUINT64 - 7, "lead out" },
  { FIELD (2, offset), G_MAXUINT64 - 63, "lead out" },
  { FIELD (2, offset), 0, "lead out" },
  { FIELD (2, offset), 64, "lead out" },
  { FIELD (2, offset), 120, "lead out" },
  { FIELD (0, offset), 0, "lead out" },
  { FIELD (0, offset), 48, "lead out" },
  { FIELD (0, offset), 81, "lead out" },
  { FIELD (0, offset), 64, "overlaps" },
  { FIELD (0, offset), 1024, "lead out" },
  { FIELD (0, offset), G_MAXUINT64 - 15, "lead out" },
  { FIELD (4, offset), 80, "lead out" },
  { FIELD (4, offset), 112, "overlaps" },
  { FIELD (3, offset), 64, "empty" },
  { FIELD (0, kind), ARENA_PLACEMENT_EMPTY | ARENA_FIELD_HAS_NAME, "placed wrongly" },
  { FIELD (0, kind), ARENA_PLACEMENT_STORAGE | ARENA_FIELD_HAS_NAME, "lead out" },
  { FIELD (0, kind), ARENA_PLACEMENT_SPILL | ARENA_FIELD_HAS_NAME, "lead out" },
  { FIELD (0, kind), 4 | ARENA_FIELD_HAS_NAME, "placement 4" },
  { FIELD (0, kind), 0x40 | ARENA_PLACEMENT_INLINE, "flags" },
  { FIELD (0, kind), ARENA_PLACEMENT_INLINE, "name" },
  { FIELD (1, kind), ARENA_PLACEMENT_INLINE | ARENA_FIELD_HAS_NAME, "lead out" },
  { FIELD (3, kind), ARENA_PLACEMENT_INLINE | ARENA_FIELD_HAS_NAME, "placed wrongly" },
  { FIELD (3, kind), ARENA_PLACEMENT_STORAGE | ARENA_FIELD_HAS_NAME, "placed wrongly" },
  { FIELD (2, kind), ARENA_PLACEMENT_STORAGE, "words" },
  { FIELD (4, kind), ARENA_PLACEMENT_INLINE | ARENA_FIELD_HAS_NAME, "name" },
  { FIELD (0, name), 1, "name" },
  { FIELD (1, name), G_MAXUINT32, "name" },
  { FIELD (0, name_size), 0, "no text" },
  { FIELD (0, name_size), 2, "no text" },
  { FIELD (0, name_size), 1025, "name of 1025" },
  { FIELD (0, name_size), 0xffff, "name of" },
  { FIELD (4, name_size), 1, "flag" },
  { WORD (0), 3, "shape of 18" },
  { WORD (0), 0, "placed wrongly" },
  { WORD (0), G_MAXUINT64, "too many" },
  { WORD (2), G_MAXUINT64 - 7, "too many" },
  { WORD (3), 0, "placed wrongly" },
  { WORD (5), (guint64) -8, "strides" },
  { WORD (5), G_MAXINT64, "strides" },
  { WORD (6), 81, "strides" },
  { WORD (7), 1, "placed wrongly" },
  { WORD (8), G_MAXUINT64, "too many" },
  { NAME (0), 0xff, "no text" },
  { NAME (0), 0, "no text" },
  { NAME (1), 'x', "no text" },
};

static void
spoil (guint8        *data,
       const Spoiled *row)
{
  const ArenaEnvelopeHeader *header = (gconstpointer) data;
  gsize words = header->table + header->n_fields * sizeof (ArenaEnvelopeField);
  gsize start = 0;

  if (row->where >= 200)
    start = words + header->n_words * 8 + (row->where - 200);
  else if (row->where >= 100)
    start = words + (row->where - 100) * 8;
  else if (row->where > 0)
    start = header->table + (row->where - 1) * sizeof (ArenaEnvelopeField);

  memcpy (data + start + row->offset, &row->value, row->width);
}

static void
test_spoiled (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gsize size;
      g_autofree guint8 *data = encode (&size);

      g_test_message ("row %u: %s", i, table[i].text);
      spoil (data, &table[i]);
      assert_refused (data, size, STORAGE_SIZE, table[i].text);
    }
}

/* A body cut short, at every length, and one with something behind it. */
static void
test_truncated (void)
{
  gsize size;
  g_autofree guint8 *data = encode (&size);

  for (gsize cut = 0; cut < size; cut++)
    assert_refused (data, cut, STORAGE_SIZE, "bytes");

  data = g_realloc (data, size + 8);
  memset (data + size, 0, 8);
  assert_refused (data, size + 8, STORAGE_SIZE, "bytes");
}

static void
test_truncated_and_said_so (void)
{
  gsize size;
  g_autofree guint8 *data = encode (&size);

  for (guint32 cut = sizeof (ArenaEnvelopeHeader); cut < size; cut++)
    {
      memcpy (data + offsetof (ArenaEnvelopeHeader, size), &cut, 4);
      assert_refused (data, cut, STORAGE_SIZE, "");
    }
}

/* The unit describes exactly what it took of the arena: not less, not more. */
static void
test_storage_size (void)
{
  gsize size;
  g_autofree guint8 *data = encode (&size);

  assert_refused (data, size, STORAGE_SIZE - 1, "lead out");
  assert_refused (data, size, STORAGE_SIZE + 1, "1008");
  assert_refused (data, size, 0, "lead out");
  assert_refused (data, size, G_MAXUINT64, "took");
}

/* An end that wraps around to exactly where it should be. */
static void
test_wrapping (void)
{
  gsize size;
  g_autofree guint8 *data = encode (&size);
  const Spoiled offset = { FIELD (2, offset), G_MAXUINT64 - 63 };
  const Spoiled length = { FIELD (2, size), STORAGE_SIZE + 64 };

  spoil (data, &offset);
  spoil (data, &length);
  assert_refused (data, size, STORAGE_SIZE, "lead out");
}

static void
test_value_types (void)
{
  const char *const types[] = { "(si*", "(s?)", "*iiii", "(si(", "ssiii" };
  gsize size;
  g_autofree guint8 *data = encode (&size);
  const ArenaEnvelopeHeader *header = (gconstpointer) data;

  g_assert_cmpuint (header->value_type_size, ==, 5);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      memcpy (data + header->value, types[i], 4);
      assert_refused (data, size, STORAGE_SIZE, "not the type");
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/envelope-decode/good", test_good);
  arena_test_add ("/arena/envelope-decode/spoiled", test_spoiled);
  arena_test_add ("/arena/envelope-decode/truncated", test_truncated);
  arena_test_add ("/arena/envelope-decode/truncated-and-said-so", test_truncated_and_said_so);
  arena_test_add ("/arena/envelope-decode/storage-size", test_storage_size);
  arena_test_add ("/arena/envelope-decode/wrapping", test_wrapping);
  arena_test_add ("/arena/envelope-decode/value-types", test_value_types);
  arena_test_add ("/arena/envelope-decode/outside", test_outside);
  return g_test_run ();
}
