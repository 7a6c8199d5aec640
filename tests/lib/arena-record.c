/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-record.h"

#include <string.h>

ArenaRecord *
arena_record_new (void)
{
  ArenaRecord *self = g_new0 (ArenaRecord, 1);

  self->fields = g_array_new (FALSE, FALSE, sizeof (guint64));
  self->in_record = g_array_new (FALSE, FALSE, sizeof (guint));
  self->names = g_byte_array_new ();
  self->data = g_byte_array_new ();
  return self;
}

void
arena_record_free (ArenaRecord *self)
{
  g_array_unref (self->fields);
  g_array_unref (self->in_record);
  g_byte_array_unref (self->names);
  g_byte_array_unref (self->data);
  g_clear_pointer (&self->payload, g_bytes_unref);
  g_clear_pointer (&self->value, g_variant_unref);
  g_free (self);
}

void
arena_record_field (ArenaRecord   *self,
                    const char    *name,
                    ArenaDType     dtype,
                    const guint64 *shape,
                    guint          n_dims,
                    const gint64  *byte_strides,
                    const void    *address,
                    gsize          size)
{
  gsize name_size = name != NULL ? strlen (name) + 1 : 0;
  const guint64 words[] = { GPOINTER_TO_SIZE (address), size, dtype, byte_strides != NULL, n_dims, name_size };

  g_array_append_vals (self->fields, words, G_N_ELEMENTS (words));
  if (n_dims > 0)
    g_array_append_vals (self->fields, shape, n_dims);
  if (n_dims > 0 && byte_strides != NULL)
    g_array_append_vals (self->fields, byte_strides, n_dims);
  if (name != NULL)
    g_byte_array_append (self->names, (const guint8 *) name, (guint) name_size);
  self->n_fields++;
}

void
arena_record_inline (ArenaRecord *self,
                     const char  *name,
                     const void  *data,
                     gsize        size)
{
  const guint64 shape[] = { size };
  guint at = self->fields->len;

  g_array_append_val (self->in_record, at);
  arena_record_field (self, name, ARENA_DTYPE_UINT8, shape, 1, NULL, NULL, size);
  g_array_index (self->fields, guint64, at) = self->data->len;
  g_array_index (self->fields, guint64, at + 3) = ARENA_PACKED_IN_RECORD;
  g_byte_array_append (self->data, data, (guint) size);
}

void
arena_record_payload (ArenaRecord *self,
                      const char  *content_type,
                      const void  *data,
                      gsize        size)
{
  self->content_type = content_type;
  self->payload = g_bytes_new (data, size);
}

void
arena_record_value (ArenaRecord *self,
                    GVariant    *value)
{
  self->value = g_variant_ref_sink (value);
}

static void
put (GByteArray *record,
     const void *data,
     gsize       size)
{
  g_byte_array_append (record, data, (guint) size);
}

/* Sizes of both texts and what belongs to them, from word 4 on. */
static void
describe_sections (ArenaRecord *self,
                   guint64     *words)
{
  words[4] = self->content_type != NULL ? strlen (self->content_type) + 1 : 0;
  words[5] = self->payload != NULL ? g_bytes_get_size (self->payload) : 0;
  words[6] = self->value != NULL ? strlen (g_variant_get_type_string (self->value)) + 1 : 0;
  words[7] = self->value != NULL ? g_variant_get_size (self->value) : 0;
}

GBytes *
arena_record_end (ArenaRecord *self)
{
  GByteArray *record = g_byte_array_new ();
  const guint8 zeros[8] = { 0 };
  guint64 words[8] = { self->n_fields };
  guint64 texts;
  guint64 start;

  describe_sections (self, words);
  texts = 64 + self->fields->len * 8 + words[4] + words[6] + self->names->len;
  start = (texts + 7) / 8 * 8 + words[7] + words[5];
  for (guint i = 0; i < self->in_record->len; i++)
    g_array_index (self->fields, guint64, g_array_index (self->in_record, guint, i)) += start;

  put (record, words, sizeof words);
  put (record, self->fields->data, self->fields->len * 8);
  put (record, self->content_type, words[4]);
  put (record, self->value != NULL ? g_variant_get_type_string (self->value) : "", words[6]);
  put (record, self->names->data, self->names->len);
  put (record, zeros, (texts + 7) / 8 * 8 - texts);
  if (self->value != NULL)
    put (record, g_variant_get_data (self->value), words[7]);
  if (self->payload != NULL)
    put (record, g_bytes_get_data (self->payload, NULL), words[5]);
  put (record, self->data->data, self->data->len);
  return g_byte_array_free_to_bytes (record);
}

void
arena_record_read (const guint8     *record,
                   gsize             size,
                   guint             index,
                   ArenaPackedField *field)
{
  guint64 words[8];
  ArenaPackedRecord packed = { .record = record, .size = size };

  g_assert_cmpuint (size, >=, sizeof words);
  memcpy (words, record, sizeof words);
  g_assert_cmpuint (index, <, words[0]);

  /* Once through the table for its end, and then up to the field. */
  *field = (ArenaPackedField) { 0 };
  for (guint i = 0; i < words[0]; i++)
    arena_packed_field_next (field, &packed);
  packed.names = field->next + (gsize) (words[4] + words[6]);

  *field = (ArenaPackedField) { 0 };
  for (guint i = 0; i <= index; i++)
    arena_packed_field_next (field, &packed);
}
