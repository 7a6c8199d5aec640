/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-packed-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-error.h"
#include "base/arena-layout-private.h"
#include "unit/arena-shape-private.h"
#include "unit/arena-value-private.h"

#include <string.h>

/* A record to be sent comes from a script, so it may hold anything; one that was received describes an envelope that
 * was checked. A record is checked in two rounds, for what it says of itself must hold before a field can say that its
 * bytes are in it: first all lengths, up to the end of the payload, then every field. Only then is a byte copied. */

static gboolean G_GNUC_PRINTF (2, 3)
refuse (GError    **error,
        const char *format,
        ...)
{
  g_autofree char *reason = NULL;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "record: %s", reason);
  return FALSE;
}

/* Words need not be aligned: the record is in whatever memory its language gave it. */
static guint64
get_word (const guint8 *at,
          guint         index)
{
  guint64 word;

  memcpy (&word, at + index * ARENA_PACKED_WORD, sizeof word);
  return GUINT64_FROM_LE (word);
}

static gsize
n_words (guint64 flags,
         guint64 n_dims)
{
  return (gsize) ((flags & ARENA_PACKED_HAS_STRIDES) != 0 ? 2 * n_dims : n_dims);
}

/* Adds @size to *end; FALSE beyond the record. */
static gboolean
take (const ArenaPackedRecord *self,
      guint64                  size,
      gsize                   *end)
{
  if (!arena_range_fits (*end, size, self->size))
    return FALSE;

  *end += (gsize) size;
  return TRUE;
}

/* A text of @size bytes with its NUL. */
static gboolean
is_text (const guint8 *text,
         guint64       size)
{
  return text[size - 1] == '\0' && g_utf8_validate ((const char *) text, (gssize) size - 1, NULL);
}

/* The fields' lengths; @names gets the size of all names. */
static gboolean
check_table (ArenaPackedRecord  *self,
             gsize              *end,
             guint64            *names,
             GError            **error)
{
  for (guint i = 0; i < self->n_fields; i++)
    {
      const guint8 *at = self->record + *end;
      guint64 flags, n_dims, name_size;

      if (!take (self, ARENA_PACKED_FIELD_SIZE, end))
        return refuse (error, "field %u of %u lies beyond its %" G_GSIZE_FORMAT " bytes", i, self->n_fields, self->size);

      flags = get_word (at, ARENA_PACKED_FLAGS);
      n_dims = get_word (at, ARENA_PACKED_N_DIMS);
      name_size = get_word (at, ARENA_PACKED_NAME_SIZE);
      if ((flags & ~(guint64) (ARENA_PACKED_HAS_STRIDES | ARENA_PACKED_IN_RECORD)) != 0)
        return refuse (error, "field %u has unknown flags 0x%" G_GINT64_MODIFIER "x", i, flags);
      if (n_dims > ARENA_MAX_DIMS)
        return refuse (error, "field %u has %" G_GUINT64_FORMAT " dimensions; at most %d", i, n_dims, ARENA_MAX_DIMS);
      if (name_size > ARENA_MAX_NAME + 1)
        return refuse (error, "field %u has a name of %" G_GUINT64_FORMAT " bytes; at most %d and a NUL", i, name_size,
                       ARENA_MAX_NAME);
      if (!take (self, n_words (flags, n_dims) * ARENA_PACKED_WORD, end))
        return refuse (error, "the shape of field %u lies beyond its %" G_GSIZE_FORMAT " bytes", i, self->size);

      *names += name_size;
    }

  return TRUE;
}

static gboolean
check_value (ArenaPackedRecord  *self,
             const guint8       *type,
             guint64             type_size,
             const guint8       *data,
             guint64             size,
             GError            **error)
{
  g_autoptr (GBytes) bytes = NULL;
  const char *problem;
  guint n_handled;

  if (type_size == 0)
    return size == 0 || refuse (error, "a value of %" G_GUINT64_FORMAT " bytes without a type", size);

  if (!is_text (type, type_size) || !g_variant_type_string_is_valid ((const char *) type) ||
      !g_variant_type_is_definite (G_VARIANT_TYPE ((const char *) type)))
    return refuse (error, "the value's type is none");

  /* Static: the value is gone before the record is. */
  bytes = g_bytes_new_static (data, (gsize) size);
  self->value = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE ((const char *) type), bytes, FALSE));
  problem = arena_value_check (self->value, &n_handled);
  if (problem != NULL)
    return refuse (error, "the value %s", problem);

  return n_handled <= self->n_fields ||
         refuse (error, "the value has a handle for field %u of %u", n_handled - 1, self->n_fields);
}

static gboolean
check_payload (ArenaPackedRecord  *self,
               const guint8       *type,
               guint64             type_size,
               const guint8       *data,
               guint64             size,
               GError            **error)
{
  if (type_size == 0)
    return size == 0 || refuse (error, "a payload of %" G_GUINT64_FORMAT " bytes without a content type", size);

  if (type_size > ARENA_MAX_CONTENT_TYPE + 1 || !is_text (type, type_size))
    return refuse (error, "the content type is not UTF-8 of at most %d bytes and a NUL", ARENA_MAX_CONTENT_TYPE);

  self->content_type = (const char *) type;
  self->payload = data;
  self->payload_size = (gsize) size;
  return TRUE;
}

/* What follows the fields at @end. */
static gboolean
check_sections (ArenaPackedRecord  *self,
                gsize               end,
                guint64             names,
                GError            **error)
{
  guint64 content_type_size = get_word (self->record, ARENA_PACKED_CONTENT_TYPE_SIZE);
  guint64 payload_size = get_word (self->record, ARENA_PACKED_PAYLOAD_SIZE);
  guint64 value_type_size = get_word (self->record, ARENA_PACKED_VALUE_TYPE_SIZE);
  guint64 value_size = get_word (self->record, ARENA_PACKED_VALUE_SIZE);
  gsize content_type = end;
  gsize value_type, value, payload;

  if (!take (self, content_type_size, &end))
    return refuse (error, "its content type lies beyond its %" G_GSIZE_FORMAT " bytes", self->size);
  value_type = end;
  if (!take (self, value_type_size, &end))
    return refuse (error, "its value's type lies beyond its %" G_GSIZE_FORMAT " bytes", self->size);
  self->names = end;
  if (!take (self, names, &end) || !take (self, arena_packed_round_up (end, ARENA_PACKED_WORD) - end, &end))
    return refuse (error, "its names lie beyond its %" G_GSIZE_FORMAT " bytes", self->size);
  value = end;
  if (!take (self, value_size, &end))
    return refuse (error, "its value lies beyond its %" G_GSIZE_FORMAT " bytes", self->size);
  payload = end;
  if (!take (self, payload_size, &end))
    return refuse (error, "its payload lies beyond its %" G_GSIZE_FORMAT " bytes", self->size);

  self->data = end;
  return check_payload (self, self->record + content_type, content_type_size, self->record + payload, payload_size,
                        error) &&
         check_value (self, self->record + value_type, value_type_size, self->record + value, value_size, error);
}

static gboolean
check_shape (const ArenaPackedField  *field,
             guint                    index,
             GError                 **error)
{
  guint item_size = field->dtype <= G_MAXINT32 ? arena_dtype_get_item_size ((ArenaDType) field->dtype) : 0;
  gsize n_dims = (gsize) field->n_dims;
  guint64 size;

  if (item_size == 0)
    return refuse (error, "field %u has an unknown data type 0x%" G_GINT64_MODIFIER "x", index, field->dtype);
  if (!arena_shape_get_size (field->shape, n_dims, item_size, &size))
    return refuse (error, "field %u has more than %" G_GINT64_FORMAT " bytes", index, G_MAXINT64);
  if ((field->flags & ARENA_PACKED_HAS_STRIDES) == 0 || n_dims == 0 || size == 0)
    return field->size == size ||
           refuse (error, "field %u has %" G_GUINT64_FORMAT " bytes, its shape %" G_GUINT64_FORMAT, index, field->size,
                   size);

  if (!arena_shape_get_extent (field->shape, field->byte_strides, n_dims, item_size, &size) || size > field->size ||
      field->size > G_MAXINT64)
    return refuse (error, "field %u has strides that lead out of its %" G_GUINT64_FORMAT " bytes", index, field->size);

  return TRUE;
}

/* Where the field's bytes are. @end is where the record ends as far as fields say. */
static gboolean
check_position (const ArenaPackedRecord *self,
                const ArenaPackedField  *field,
                guint                    index,
                gsize                   *end,
                GError                 **error)
{
  if (field->size == 0)
    return TRUE;

  if ((field->flags & ARENA_PACKED_IN_RECORD) != 0)
    {
      if (field->position < self->data || !arena_range_fits (field->position, field->size, self->size))
        return refuse (error, "field %u: %" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT " are not in the record's %"
                       G_GSIZE_FORMAT " after %" G_GSIZE_FORMAT, index, field->size, field->position, self->size,
                       self->data);
      *end = MAX (*end, (gsize) (field->position + field->size));
      return TRUE;
    }

  if (field->position == 0 || field->position > G_MAXSIZE || field->size - 1 > G_MAXSIZE - field->position)
    return refuse (error, "field %u: %" G_GUINT64_FORMAT " bytes can't be at address 0x%" G_GINT64_MODIFIER "x", index,
                   field->size, field->position);

  return TRUE;
}

/* A unit's layout, saturated: what can't be counted can't be sent either, and the arena says so. */
static void
count_storage (ArenaPackedRecord *self,
               guint64            size,
               guint64            threshold)
{
  guint64 start = self->storage_size;

  if (size == 0 || size < threshold)
    return;

  if (start > G_MAXINT64 || size > G_MAXINT64)
    self->storage_size = G_MAXUINT64;
  else
    self->storage_size = (start + ARENA_FIELD_ALIGNMENT - 1) / ARENA_FIELD_ALIGNMENT * ARENA_FIELD_ALIGNMENT + size;
}

static gboolean
check_fields (ArenaPackedRecord  *self,
              guint64             threshold,
              GError            **error)
{
  ArenaPackedField field = { .next = 0 };
  gsize end = self->data;

  for (guint i = 0; i < self->n_fields; i++)
    {
      arena_packed_field_next (&field, self);
      if (field.name != NULL && !is_text ((const guint8 *) field.name, field.name_size))
        return refuse (error, "the name of field %u is not UTF-8 with a NUL at its end", i);
      if (!check_shape (&field, i, error) || !check_position (self, &field, i, &end, error))
        return FALSE;

      count_storage (self, field.size, threshold);
    }

  return end == self->size ||
         refuse (error, "it ends at %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " bytes", end, self->size);
}

gboolean
arena_packed_record_init (ArenaPackedRecord *self,
                          const guint8      *record,
                          gsize              size,
                          guint64            threshold,
                          GError           **error)
{
  gsize end = ARENA_PACKED_HEAD_SIZE;
  guint64 names = 0;
  guint64 n_fields;

  *self = (ArenaPackedRecord) { .record = record, .size = size };
  if (size < ARENA_PACKED_HEAD_SIZE)
    return refuse (error, "%" G_GSIZE_FORMAT " bytes are less than its head", size);

  n_fields = get_word (record, ARENA_PACKED_N_FIELDS);
  if (n_fields > ARENA_MAX_FIELDS)
    return refuse (error, "%" G_GUINT64_FORMAT " fields; at most %d", n_fields, ARENA_MAX_FIELDS);

  self->n_fields = (guint) n_fields;
  return check_table (self, &end, &names, error) &&
         check_sections (self, end, names, error) &&
         check_fields (self, threshold, error);
}

void
arena_packed_record_clear (ArenaPackedRecord *self)
{
  g_clear_pointer (&self->value, g_variant_unref);
}

void
arena_packed_field_next (ArenaPackedField        *field,
                         const ArenaPackedRecord *record)
{
  gboolean first = field->next == 0;
  const guint8 *at = record->record + (first ? ARENA_PACKED_HEAD_SIZE : field->next);
  gsize name = first ? record->names : field->next_name;

  field->position = get_word (at, ARENA_PACKED_POSITION);
  field->size = get_word (at, ARENA_PACKED_SIZE);
  field->dtype = get_word (at, ARENA_PACKED_DTYPE);
  field->flags = get_word (at, ARENA_PACKED_FLAGS);
  field->n_dims = get_word (at, ARENA_PACKED_N_DIMS);
  field->name_size = get_word (at, ARENA_PACKED_NAME_SIZE);
  field->name = field->name_size > 0 ? (const char *) record->record + name : NULL;
  field->address = field->position;
  if ((field->flags & ARENA_PACKED_IN_RECORD) != 0)
    field->address += GPOINTER_TO_SIZE (record->record);

  at += ARENA_PACKED_FIELD_SIZE;
  for (guint i = 0; i < field->n_dims; i++, at += ARENA_PACKED_WORD)
    field->shape[i] = get_word (at, 0);
  if ((field->flags & ARENA_PACKED_HAS_STRIDES) != 0)
    for (guint i = 0; i < field->n_dims; i++, at += ARENA_PACKED_WORD)
      field->byte_strides[i] = (gint64) get_word (at, 0);

  field->next = (gsize) (at - record->record);
  field->next_name = name + (gsize) field->name_size;
}
