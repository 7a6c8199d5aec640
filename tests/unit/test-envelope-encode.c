/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-envelope-private.h"

#include "arena-test.h"
#include "base/arena-error.h"

#include <string.h>

/* The area has the exact size given, on the heap: a byte beyond it is the sanitizer's. */

typedef struct
{
  ArenaEnvelopeEncoder encoder;
  guint8 *area;
} Fixture;

static void
fixture_init (Fixture *self,
              gsize    size)
{
  self->area = g_malloc (size);
  memset (self->area, 0xa5, size);
  arena_envelope_encoder_init (&self->encoder);
  arena_envelope_encoder_begin (&self->encoder, self->area, size);
}

static void
fixture_clear (Fixture *self)
{
  arena_envelope_encoder_clear (&self->encoder);
  g_free (self->area);
}

static ArenaEnvelopeField
bytes_field (guint64 size,
             guint   kind)
{
  return (ArenaEnvelopeField) { .size = size, .dtype = ARENA_DTYPE_UINT8, .n_dims = 1, .kind = (guint8) kind };
}

static void
test_empty (void)
{
  Fixture f;
  ArenaEnvelope envelope;
  g_autoptr (GError) error = NULL;

  fixture_init (&f, sizeof (ArenaEnvelopeHeader));
  g_assert_cmpuint (arena_envelope_encoder_size_with (&f.encoder, 0, 0), ==, 64);
  g_assert_cmpuint (arena_envelope_encoder_finish (&f.encoder), ==, 64);
  arena_envelope_decode (&envelope, f.area, 64, 0, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (envelope.header->n_fields, ==, 0);
  fixture_clear (&f);
}

static void
test_record_size (void)
{
  ArenaEnvelopeField field = { .n_dims = 3, .name_size = 5 };

  g_assert_cmpuint (arena_envelope_field_record_size (&field), ==, 32 + 24);
  field.kind = ARENA_FIELD_HAS_STRIDES;
  g_assert_cmpuint (arena_envelope_field_record_size (&field), ==, 32 + 48);
  field.kind = ARENA_FIELD_HAS_STRIDES | ARENA_FIELD_HAS_NAME;
  g_assert_cmpuint (arena_envelope_field_record_size (&field), ==, 32 + 48 + 6);
}

static void
add_inline (Fixture    *f,
            const char *name,
            guint64     size)
{
  ArenaEnvelopeField field = bytes_field (size, ARENA_PLACEMENT_INLINE | ARENA_FIELD_HAS_NAME);

  field.name_size = (guint16) strlen (name);
  field.offset = arena_envelope_encoder_take_data (&f->encoder, size);
  g_assert_cmpuint (field.offset % 16, ==, 0);
  memset (f->area + field.offset, name[0], size);
  arena_envelope_encoder_add_field (&f->encoder, &field, name, &size, NULL);
}

static void
test_sections (void)
{
  const guint8 payload[] = { 1, 2, 3 };
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new ("(yx)", 7, G_GINT64_CONSTANT (-8)));
  g_autoptr (GError) error = NULL;
  ArenaEnvelope envelope;
  gsize size;
  Fixture f;

  fixture_init (&f, 1024);
  add_inline (&f, "first", 3);
  g_assert_true (arena_envelope_encoder_set_value (&f.encoder, value, NULL));
  add_inline (&f, "b", 17);
  g_assert_true (arena_envelope_encoder_set_payload (&f.encoder, "text/x", payload, sizeof payload, NULL));
  add_inline (&f, "", 1);

  size = (gsize) arena_envelope_encoder_size_with (&f.encoder, 0, 0);
  g_assert_cmpuint (arena_envelope_encoder_finish (&f.encoder), ==, size);
  g_assert_cmpuint (size % 8, ==, 0);
  arena_envelope_decode (&envelope, f.area, size, 0, 0, &error);
  g_assert_no_error (error);

  g_assert_cmpuint (envelope.header->n_fields, ==, 3);
  g_assert_cmpstr (arena_envelope_get_name (&envelope, &envelope.fields[0]), ==, "first");
  g_assert_cmpstr (arena_envelope_get_name (&envelope, &envelope.fields[1]), ==, "b");
  g_assert_cmpstr (arena_envelope_get_name (&envelope, &envelope.fields[2]), ==, "");
  g_assert_cmpuint (f.area[envelope.fields[1].offset + 16], ==, 'b');
  g_assert_cmpstr (arena_envelope_get_value_type (&envelope), ==, "(yx)");
  g_assert_cmpuint ((guintptr) arena_envelope_get_value (&envelope) % 8, ==, 0);
  g_assert_cmpmem (arena_envelope_get_value (&envelope), envelope.header->value_size, g_variant_get_data (value), 16);
  g_assert_cmpstr (arena_envelope_get_content_type (&envelope), ==, "text/x");
  g_assert_cmpmem (arena_envelope_get_payload (&envelope), envelope.header->payload_size, payload, 3);
  fixture_clear (&f);
}

/* The budget is exact: what size_with() says is what finish() takes, and one byte less doesn't do. */
static void
test_exact_room (void)
{
  const guint8 payload[37] = { 0 };
  g_autoptr (GError) error = NULL;
  guint64 needed;
  Fixture f;

  fixture_init (&f, 4096);
  add_inline (&f, "some", 5);
  g_assert_true (arena_envelope_encoder_set_payload (&f.encoder, "p", payload, sizeof payload, NULL));
  needed = arena_envelope_encoder_size_with (&f.encoder, 0, 0);
  fixture_clear (&f);

  fixture_init (&f, needed);
  add_inline (&f, "some", 5);
  arena_envelope_encoder_set_payload (&f.encoder, "p", payload, sizeof payload, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (arena_envelope_encoder_finish (&f.encoder), ==, needed);
  fixture_clear (&f);

  fixture_init (&f, needed - 1);
  add_inline (&f, "some", 5);
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, "p", payload, sizeof payload, &error));
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);
  fixture_clear (&f);
}

static void
test_too_large (void)
{
  g_autofree guint8 *payload = g_malloc0 (2000);
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_from_data (G_VARIANT_TYPE ("ay"), payload, 2000, TRUE,
                                                                            NULL, NULL));
  g_autoptr (GError) error = NULL;
  Fixture f;

  fixture_init (&f, 1024);
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, "t", payload, 2000, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "payload", "2072", "1024");
  g_assert_false (arena_envelope_encoder_set_value (&f.encoder, value, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "value", "2072", "1024");
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, "t", payload, G_MAXINT64, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);

  /* Nothing of it stayed behind. */
  g_assert_cmpuint (arena_envelope_encoder_size_with (&f.encoder, 0, 0), ==, 64);
  g_assert_true (arena_envelope_encoder_set_payload (&f.encoder, "t", payload, 100, &error));
  g_assert_no_error (error);
  fixture_clear (&f);
}

static void
test_second (void)
{
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_int32 (1));
  g_autoptr (GError) error = NULL;
  Fixture f;

  fixture_init (&f, 1024);
  g_assert_true (arena_envelope_encoder_set_value (&f.encoder, value, NULL));
  g_assert_false (arena_envelope_encoder_set_value (&f.encoder, value, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "value");
  g_assert_true (arena_envelope_encoder_set_payload (&f.encoder, "", NULL, 0, NULL));
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, "", NULL, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "payload");
  fixture_clear (&f);
}

static void
test_content_type (void)
{
  g_autofree char *longest = g_strnfill (255, 'x');
  g_autofree char *longer = g_strnfill (256, 'x');
  g_autoptr (GError) error = NULL;
  Fixture f;

  fixture_init (&f, 1024);
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, longer, NULL, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "256", "255");
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, "\xff", NULL, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "UTF-8");
  g_assert_true (arena_envelope_encoder_set_payload (&f.encoder, longest, NULL, 0, &error));
  g_assert_no_error (error);
  fixture_clear (&f);
}

/* Data that is not in normal form, as one that came from another program may be, is sent as what it means. */
static void
test_normal_form (void)
{
  const guint8 not_a_bool = 2;
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_from_data (G_VARIANT_TYPE_BOOLEAN, &not_a_bool, 1,
                                                                            FALSE, NULL, NULL));
  g_autoptr (GError) error = NULL;
  ArenaEnvelope envelope;
  gsize size;
  Fixture f;

  fixture_init (&f, 1024);
  g_assert_true (arena_envelope_encoder_set_value (&f.encoder, value, NULL));
  size = arena_envelope_encoder_finish (&f.encoder);
  arena_envelope_decode (&envelope, f.area, size, 0, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (envelope.header->value_size, ==, 1);
  g_assert_cmpuint (arena_envelope_get_value (&envelope)[0], !=, not_a_bool);
  fixture_clear (&f);
}

/* The same encoder again and again: nothing of the unit before. */
static void
test_again (void)
{
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_string ("v"));
  gsize first;
  Fixture f;

  fixture_init (&f, 1024);
  g_assert_true (arena_envelope_encoder_set_value (&f.encoder, value, NULL));
  add_inline (&f, "name", 30);
  first = arena_envelope_encoder_finish (&f.encoder);
  for (guint i = 0; i < 100; i++)
    {
      arena_envelope_encoder_begin (&f.encoder, f.area, 1024);
      g_assert_cmpuint (arena_envelope_encoder_size_with (&f.encoder, 0, 0), ==, 64);
      g_assert_true (arena_envelope_encoder_set_value (&f.encoder, value, NULL));
      add_inline (&f, "name", 30);
      g_assert_cmpuint (arena_envelope_encoder_finish (&f.encoder), ==, first);
    }
  fixture_clear (&f);
}

/* What was written to the slot before goes on in the heap; the slot itself is left alone from then on. */
static void
test_grow (void)
{
  g_autofree guint8 *payload = g_malloc (5000);
  g_autofree guint8 *before = NULL;
  g_autoptr (GError) error = NULL;
  ArenaEnvelopeField field = bytes_field (100, ARENA_PLACEMENT_INLINE);
  const guint64 shape[] = { 100 };
  ArenaEnvelope envelope;
  gsize size;
  Fixture f;

  fixture_init (&f, 1024);
  f.encoder.may_grow = TRUE;
  arena_test_fill_pattern (payload, 5000, 2);
  field.offset = arena_envelope_encoder_take_data (&f.encoder, 100);
  arena_test_fill_pattern (f.encoder.area + field.offset, 100, 1);
  arena_envelope_encoder_add_field (&f.encoder, &field, NULL, shape, NULL);
  before = g_memdup2 (f.area, 1024);
  g_assert_true (arena_envelope_encoder_set_payload (&f.encoder, "t", payload, 5000, &error));
  g_assert_no_error (error);
  g_assert_true (f.encoder.area != f.area);

  /* What lies between the data is nothing of this process's heap. */
  field.offset = arena_envelope_encoder_take_data (&f.encoder, 3);
  memcpy (f.encoder.area + field.offset, "abc", 3);
  field.size = 3;
  arena_envelope_encoder_add_field (&f.encoder, &field, NULL, (guint64[]) { 3 }, NULL);
  g_assert_cmpuint (arena_envelope_encoder_take_data (&f.encoder, 1), ==, field.offset + 16);
  for (guint i = 3; i < 16; i++)
    g_assert_cmpint (f.encoder.area[field.offset + i], ==, 0);

  size = arena_envelope_encoder_finish (&f.encoder);
  g_assert_cmpuint (size, >, 5000);
  g_assert_cmpmem (f.area, 1024, before, 1024);
  arena_envelope_decode (&envelope, f.encoder.area, size, 0, 0, &error);
  g_assert_no_error (error);
  g_assert_true (arena_test_check_pattern (f.encoder.area + envelope.fields[0].offset, 100, 1));
  g_assert_cmpmem (arena_envelope_get_payload (&envelope), envelope.header->payload_size, payload, 5000);

  /* The next one begins in its slot again; and nothing grows without end. */
  arena_envelope_encoder_shrink (&f.encoder);
  arena_envelope_encoder_begin (&f.encoder, f.area, 1024);
  g_assert_false (arena_envelope_encoder_set_payload (&f.encoder, "t", payload, G_MAXUINT32, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "payload", "4294967280");
  g_assert_true (f.encoder.area == f.area);
  fixture_clear (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/envelope-encode/empty", test_empty);
  arena_test_add ("/arena/envelope-encode/record-size", test_record_size);
  arena_test_add ("/arena/envelope-encode/sections", test_sections);
  arena_test_add ("/arena/envelope-encode/exact-room", test_exact_room);
  arena_test_add ("/arena/envelope-encode/too-large", test_too_large);
  arena_test_add ("/arena/envelope-encode/second", test_second);
  arena_test_add ("/arena/envelope-encode/content-type", test_content_type);
  arena_test_add ("/arena/envelope-encode/normal-form", test_normal_form);
  arena_test_add ("/arena/envelope-encode/again", test_again);
  arena_test_add ("/arena/envelope-encode/grow", test_grow);
  return g_test_run ();
}
