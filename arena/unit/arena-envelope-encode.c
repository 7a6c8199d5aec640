/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-envelope-private.h"

#include "base/arena-error.h"
#include "unit/arena-value-private.h"

#include <string.h>

/* `size_with (0, 0) <= room` holds after every call, so finish() always has room. The slot's area is shared memory that
 * this process alone writes; nothing is read back from it, unless an envelope outgrows it and goes on in the heap.
 *
 * Sums can't overflow: the area is below 4 GiB, sections below what the limits allow, and a size given is below
 * 2^63. */

void
arena_envelope_encoder_init (ArenaEnvelopeEncoder *self)
{
  *self = (ArenaEnvelopeEncoder) {
    .fields = g_array_new (FALSE, FALSE, sizeof (ArenaEnvelopeField)),
    .words = g_array_new (FALSE, FALSE, sizeof (guint64)),
    .names = g_byte_array_new (),
  };
}

void
arena_envelope_encoder_clear (ArenaEnvelopeEncoder *self)
{
  arena_envelope_encoder_shrink (self);
  g_clear_pointer (&self->fields, g_array_unref);
  g_clear_pointer (&self->words, g_array_unref);
  g_clear_pointer (&self->names, g_byte_array_unref);
}

void
arena_envelope_encoder_begin (ArenaEnvelopeEncoder *self,
                              guint8               *area,
                              gsize                 size)
{
  self->area = area;
  self->slot = area;
  self->size = MIN (size, G_MAXUINT32);
  self->room = self->size;
  self->end = sizeof (ArenaEnvelopeHeader);
  /* Nothing is there to be cleared, so the three need no call. */
  self->fields->len = 0;
  self->words->len = 0;
  self->names->len = 0;
  self->n_handled = 0;
  self->header = (ArenaEnvelopeHeader) { .magic = ARENA_ENVELOPE_MAGIC, .version = ARENA_ENVELOPE_VERSION };
}

void
arena_envelope_encoder_shrink (ArenaEnvelopeEncoder *self)
{
  g_clear_pointer (&self->heap, g_free);
}

gboolean
arena_envelope_encoder_grow (ArenaEnvelopeEncoder *self,
                             const char           *what,
                             guint64               whole,
                             GError              **error)
{
  guint64 limit = self->may_grow ? ARENA_MAX_ENVELOPE : self->size;
  guint64 room = MIN (whole + whole / 2, ARENA_MAX_ENVELOPE);
  guint8 *heap;

  if (whole > limit)
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_TOO_LARGE,
                   "%s makes the envelope %" G_GUINT64_FORMAT " bytes long, but it has %" G_GUINT64_FORMAT,
                   what,
                   whole,
                   limit);
      return FALSE;
    }

  heap = g_try_realloc (self->heap, room);
  if (heap == NULL)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "%s makes the envelope %" G_GUINT64_FORMAT
                   " bytes long, and memory is short", what, whole);
      return FALSE;
    }

  if (self->heap == NULL)
    memcpy (heap, self->area, self->end);
  /* Gaps are sent, too. */
  memset (heap + self->end, 0, room - self->end);
  self->heap = heap;
  self->area = heap;
  self->room = room;
  return TRUE;
}

gsize
arena_envelope_field_record_size (const ArenaEnvelopeField *field)
{
  gsize name_size = (field->kind & ARENA_FIELD_HAS_NAME) != 0 ? field->name_size + 1u : 0;

  return sizeof *field + arena_envelope_field_n_words (field) * sizeof (guint64) + name_size;
}

static guint64
inline_start (ArenaEnvelopeEncoder *self)
{
  return (self->end + ARENA_ENVELOPE_INLINE_ALIGNMENT - 1) & ~(guint64) (ARENA_ENVELOPE_INLINE_ALIGNMENT - 1);
}

/* The size of the whole if the data ended there and the sections were that much longer. */
static guint64
whole_size (ArenaEnvelopeEncoder *self,
            guint64               data_end,
            guint64               record_size)
{
  guint64 sections = self->fields->len * sizeof (ArenaEnvelopeField) +
                     self->words->len * sizeof (guint64) +
                     self->names->len;

  return arena_envelope_round_up (arena_envelope_round_up (data_end) + sections + record_size);
}

guint64
arena_envelope_encoder_size_with (ArenaEnvelopeEncoder *self,
                                  guint64               record_size,
                                  guint64               data_size)
{
  return whole_size (self, data_size > 0 ? inline_start (self) + data_size : self->end, record_size);
}

guint64
arena_envelope_encoder_take_data (ArenaEnvelopeEncoder *self,
                                  gsize                 size)
{
  guint64 start = inline_start (self);

  self->end = start + size;
  return start;
}

void
arena_envelope_encoder_add_field (ArenaEnvelopeEncoder     *self,
                                  const ArenaEnvelopeField *field,
                                  const char               *name,
                                  const guint64            *shape,
                                  const gint64             *byte_strides)
{
  ArenaEnvelopeField added = *field;

  added.words = self->words->len;
  added.name = 0;
  if (field->n_dims > 0)
    g_array_append_vals (self->words, shape, field->n_dims);
  if (field->n_dims > 0 && (field->kind & ARENA_FIELD_HAS_STRIDES) != 0)
    g_array_append_vals (self->words, byte_strides, field->n_dims);
  if ((field->kind & ARENA_FIELD_HAS_NAME) != 0)
    {
      added.name = self->names->len;
      g_byte_array_append (self->names, (const guint8 *) name, field->name_size + 1u);
    }

  g_array_append_vals (self->fields, &added, 1);
}

/* Room for a text with its NUL and, from the next multiple of 8, @size bytes. */
static gboolean
take_section (ArenaEnvelopeEncoder *self,
              const char           *what,
              const char           *text,
              guint64               size,
              guint32              *start,
              GError              **error)
{
  guint64 text_size = strlen (text) + 1;
  guint64 begin = arena_envelope_round_up (self->end);
  guint64 end = arena_envelope_round_up (begin + text_size) + size;
  guint64 whole = whole_size (self, end, 0);

  if (whole > self->room && !arena_envelope_encoder_grow (self, what, whole, error))
    return FALSE;

  memset (self->area + self->end, 0, end - size - self->end);
  memcpy (self->area + begin, text, text_size);
  *start = (guint32) begin;
  self->end = end;
  return TRUE;
}

static gboolean
refuse_second (const char *what,
               GError    **error)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "the unit has a %s already", what);
  return FALSE;
}

gboolean
arena_envelope_encoder_set_value (ArenaEnvelopeEncoder *self,
                                  GVariant             *value,
                                  GError              **error)
{
  /* What is not in normal form would be read differently by every reader. */
  g_autoptr (GVariant) normal = NULL;
  const char *type = g_variant_get_type_string (value);
  const char *problem;
  guint n_handled;
  gsize size;

  if (self->header.value != 0)
    return refuse_second ("value", error);

  normal = g_variant_get_normal_form (value);
  problem = arena_value_check (normal, &n_handled);
  if (problem != NULL)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "the value %s", problem);
      return FALSE;
    }

  size = g_variant_get_size (normal);
  if (!take_section (self, "the value", type, size, &self->header.value, error))
    return FALSE;

  if (size > 0)
    g_variant_store (normal, self->area + self->end - size);
  self->header.value_type_size = (guint32) strlen (type) + 1;
  self->header.value_size = (guint32) size;
  self->n_handled = n_handled;
  return TRUE;
}

gboolean
arena_envelope_encoder_set_payload (ArenaEnvelopeEncoder *self,
                                    const char           *content_type,
                                    const guint8         *payload,
                                    gsize                 n_bytes,
                                    GError              **error)
{
  gsize type_size = strlen (content_type);

  if (type_size > ARENA_MAX_CONTENT_TYPE || !g_utf8_validate (content_type, (gssize) type_size, NULL))
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_INVALID_ARGUMENT,
                   "content_type: %" G_GSIZE_FORMAT " bytes; it is UTF-8 of at most %d",
                   type_size,
                   ARENA_MAX_CONTENT_TYPE);
      return FALSE;
    }
  if (self->header.payload != 0)
    return refuse_second ("payload", error);
  if (!take_section (self, "the payload", content_type, n_bytes, &self->header.payload, error))
    return FALSE;

  if (n_bytes > 0)
    memcpy (self->area + self->end - n_bytes, payload, n_bytes);
  self->header.content_type_size = (guint32) type_size + 1;
  self->header.payload_size = (guint32) n_bytes;
  return TRUE;
}

/* Appends a section and zeros up to the next one. */
static void
put_section (ArenaEnvelopeEncoder *self,
             gconstpointer         data,
             gsize                 size)
{
  guint64 end = self->end + size;

  if (size > 0)
    memcpy (self->area + self->end, data, size);
  self->end = arena_envelope_round_up (end);
  if (self->end > end)
    memset (self->area + end, 0, self->end - end);
}

gsize
arena_envelope_encoder_finish (ArenaEnvelopeEncoder *self)
{
  guint64 end = self->end;
  guint64 size;

  put_section (self, NULL, 0);
  self->header.table = (guint32) self->end;
  self->header.n_fields = self->fields->len;
  self->header.n_words = self->words->len;
  self->header.names_size = self->names->len;

  put_section (self, self->fields->data, self->fields->len * sizeof (ArenaEnvelopeField));
  put_section (self, self->words->data, self->words->len * sizeof (guint64));
  put_section (self, self->names->data, self->names->len);

  size = self->end;
  self->header.size = (guint32) size;
  memcpy (self->area, &self->header, sizeof self->header);
  /* Made room for what then failed to come. */
  if (G_UNLIKELY (self->heap != NULL) && size <= self->size)
    memcpy (self->slot, self->area, size);
  self->end = end;
  return (gsize) size;
}
