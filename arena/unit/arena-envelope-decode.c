/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-envelope-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-error.h"
#include "base/arena-layout-private.h"
#include "unit/arena-shape-private.h"
#include "unit/arena-value-private.h"

#include <string.h>

/* An envelope is hostile until its last byte was checked. A number is compared with what is left before it is added to
 * anything, and a peer can never make two descriptions overlap: each field's words and name begin where those of the
 * field before it end, inline fields lie in order between header and table, fields in the arena in order within the
 * storage, those outside within their file. So a consumer that writes to a view changes no word that was checked here. */

/* Where the fields read so far end. */
typedef struct
{
  guint32 n_words;
  guint32 names;
  guint64 data;
  guint64 storage;
  guint64 spill;
} Progress;

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
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "envelope: %s", reason);
  return FALSE;
}

static gboolean
check_header (const ArenaEnvelopeHeader *header,
              gsize                      size,
              GError                   **error)
{
  guint64 end;

  if (header->magic != ARENA_ENVELOPE_MAGIC || header->version != ARENA_ENVELOPE_VERSION)
    return refuse (error, "magic %x and version %u are not this library's", header->magic, header->version);
  if (header->size != size)
    return refuse (error, "%u bytes where %" G_GSIZE_FORMAT " came", header->size, size);
  if (header->n_fields > ARENA_MAX_FIELDS)
    return refuse (error, "%u fields, more than %d", header->n_fields, ARENA_MAX_FIELDS);
  if ((header->reserved[0] | header->reserved[1] | header->reserved[2]) != 0)
    return refuse (error, "reserved words are not 0");
  if (header->table < sizeof *header || header->table % ARENA_ENVELOPE_SECTION_ALIGNMENT != 0)
    return refuse (error, "table at %u", header->table);

  /* Each factor is 32 bits wide, so 64 hold the sum. */
  end = header->table + header->n_fields * sizeof (ArenaEnvelopeField) + header->n_words * sizeof (guint64) +
        header->names_size;
  if (arena_envelope_round_up (end) != size)
    return refuse (error, "sections end at %" G_GUINT64_FORMAT " of %" G_GSIZE_FORMAT, end, size);

  return TRUE;
}

/* The value's or the payload's section: a text with its NUL, then bytes. */
static gboolean
check_section (const ArenaEnvelopeHeader *header,
               const char                *what,
               guint32                    start,
               guint32                    text_size,
               guint32                    size,
               GError                   **error)
{
  const char *text = (const char *) header + start;

  if (start == 0)
    return (text_size | size) == 0 || refuse (error, "a size without a %s", what);
  if (start < sizeof *header || start % ARENA_ENVELOPE_SECTION_ALIGNMENT != 0)
    return refuse (error, "%s at %u", what, start);
  if (text_size == 0 ||
      !arena_range_fits (start, arena_envelope_round_up (text_size) + size, header->table))
    return refuse (error, "%s of %u and %u bytes at %u leads out of %u", what, text_size, size, start, header->table);
  if (text[text_size - 1] != '\0' || !g_utf8_validate (text, text_size - 1, NULL))
    return refuse (error, "the type of the %s is no text", what);

  return TRUE;
}

static guint64
value_end (const ArenaEnvelopeHeader *header)
{
  return header->value + arena_envelope_round_up (header->value_type_size) + header->value_size;
}

static guint64
payload_end (const ArenaEnvelopeHeader *header)
{
  return header->payload + arena_envelope_round_up (header->content_type_size) + header->payload_size;
}

static gboolean
overlap (guint64 start,
         guint64 end,
         guint64 other_start,
         guint64 other_end)
{
  return start < other_end && other_start < end;
}

/* Its section was checked. */
static gboolean
check_value (const ArenaEnvelopeHeader *header,
             GError                   **error)
{
  const char *type = (const char *) header + header->value;
  g_autoptr (GVariant) value = NULL;
  const char *problem;
  guint n_fields;

  if (header->value == 0)
    return TRUE;
  if (!g_variant_type_string_is_valid (type) || !g_variant_type_is_definite (G_VARIANT_TYPE (type)))
    return refuse (error, "\"%s\" is not the type of a value", type);

  value = g_variant_ref_sink (g_variant_new_from_data (G_VARIANT_TYPE (type),
                                                       type + arena_envelope_round_up (header->value_type_size),
                                                       header->value_size, FALSE, NULL, NULL));
  problem = arena_value_check (value, &n_fields);
  if (problem != NULL)
    return refuse (error, "the value %s", problem);

  return n_fields <= header->n_fields ||
         refuse (error, "the value has a handle for field %u of %u", n_fields - 1, header->n_fields);
}

static gboolean
check_value_and_payload (const ArenaEnvelopeHeader *header,
                         GError                   **error)
{
  if ((header->value | header->value_type_size | header->value_size |
       header->payload | header->content_type_size | header->payload_size) == 0)
    return TRUE;

  if (!check_section (header, "value", header->value, header->value_type_size, header->value_size, error) ||
      !check_section (header, "payload", header->payload, header->content_type_size, header->payload_size, error))
    return FALSE;

  if (overlap (header->value, value_end (header), header->payload, payload_end (header)))
    return refuse (error, "value and payload overlap");
  if (header->content_type_size > ARENA_MAX_CONTENT_TYPE + 1)
    return refuse (error, "content type of %u bytes", header->content_type_size);

  return check_value (header, error);
}

static gboolean
check_name (const ArenaEnvelope      *self,
            const ArenaEnvelopeField *field,
            Progress                 *progress,
            GError                  **error)
{
  guint32 left = self->header->names_size - progress->names;
  const char *name = self->names + progress->names;

  if ((field->kind & ARENA_FIELD_HAS_NAME) == 0)
    return (field->name | field->name_size) == 0 || refuse (error, "a name without its flag");

  if (field->name != progress->names || field->name_size > ARENA_MAX_NAME || field->name_size >= left)
    return refuse (error, "name of %u bytes at %u leads out of %u", field->name_size, field->name, left);
  if (name[field->name_size] != '\0' || !g_utf8_validate (name, field->name_size, NULL))
    return refuse (error, "a name is no text");

  progress->names += field->name_size + 1u;
  return TRUE;
}

/* Shape, strides and size agree, and items lie within the size. */
static gboolean
check_shape (const ArenaEnvelope      *self,
             const ArenaEnvelopeField *field,
             Progress                 *progress,
             GError                  **error)
{
  guint item_size = arena_dtype_get_item_size ((ArenaDType) field->dtype);
  guint n_words = arena_envelope_field_n_words (field);
  const guint64 *shape = self->words + progress->n_words;
  const gint64 *strides = (const gint64 *) shape + field->n_dims;
  gboolean empty = arena_envelope_field_placement (field) == ARENA_PLACEMENT_EMPTY;
  guint64 size;

  if (item_size == 0)
    return refuse (error, "data type %x is unknown", field->dtype);
  if (field->n_dims > ARENA_MAX_DIMS)
    return refuse (error, "%u dimensions, more than %d", field->n_dims, ARENA_MAX_DIMS);
  if (field->words != progress->n_words || n_words > self->header->n_words - progress->n_words)
    return refuse (error, "%u words at %u lead out of %u", n_words, field->words, self->header->n_words);
  if (!arena_shape_get_size (shape, field->n_dims, item_size, &size))
    return refuse (error, "a shape has too many items");
  if (empty != (size == 0))
    return refuse (error, "a shape of %" G_GUINT64_FORMAT " bytes is placed wrongly", size);

  progress->n_words += n_words;
  if ((field->kind & ARENA_FIELD_HAS_STRIDES) == 0)
    return field->size == size ||
           refuse (error, "%" G_GUINT64_FORMAT " bytes for a shape of %" G_GUINT64_FORMAT, field->size, size);
  if (empty || !arena_shape_get_extent (shape, strides, field->n_dims, item_size, &size) || size > field->size)
    return refuse (error, "strides lead out of %" G_GUINT64_FORMAT " bytes", field->size);

  return TRUE;
}

static gboolean
refuse_range (const ArenaEnvelopeField *field,
              guint64                   start,
              guint64                   end,
              GError                  **error)
{
  return refuse (error,
                 "%" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT " lead out of %" G_GUINT64_FORMAT
                 " to %" G_GUINT64_FORMAT ", or are not aligned",
                 field->size,
                 field->offset,
                 start,
                 end);
}

static gboolean
check_inline (const ArenaEnvelopeHeader *header,
              const ArenaEnvelopeField  *field,
              Progress                  *progress,
              GError                   **error)
{
  guint64 end;

  if (field->offset % ARENA_ENVELOPE_INLINE_ALIGNMENT != 0 || field->offset < progress->data ||
      !arena_range_fits (field->offset, field->size, header->table))
    return refuse_range (field, progress->data, header->table, error);

  end = field->offset + field->size;
  if (overlap (field->offset, end, header->value, value_end (header)) ||
      overlap (field->offset, end, header->payload, payload_end (header)))
    return refuse (error, "inline field at %" G_GUINT64_FORMAT " overlaps the value or the payload", field->offset);

  progress->data = end;
  return TRUE;
}

/* In the arena, or outside of it: @end is where the field before ends, and @size how much there is. */
static gboolean
check_large (const ArenaEnvelopeField *field,
             guint64                   size,
             guint64                  *end,
             GError                  **error)
{
  if (field->offset % ARENA_FIELD_ALIGNMENT != 0 || field->offset < *end || (*end == 0 && field->offset != 0) ||
      !arena_range_fits (field->offset, field->size, size))
    return refuse_range (field, *end, size, error);

  *end = field->offset + field->size;
  return TRUE;
}

static gboolean
check_placement (const ArenaEnvelope      *self,
                 const ArenaEnvelopeField *field,
                 const Progress           *sizes,
                 Progress                 *progress,
                 GError                  **error)
{
  switch (arena_envelope_field_placement (field))
    {
    case ARENA_PLACEMENT_EMPTY:
      return field->offset == 0 || refuse (error, "an empty field has an offset");
    case ARENA_PLACEMENT_INLINE:
      return check_inline (self->header, field, progress, error);
    case ARENA_PLACEMENT_STORAGE:
      return check_large (field, sizes->storage, &progress->storage, error);
    case ARENA_PLACEMENT_SPILL:
      return check_large (field, sizes->spill, &progress->spill, error);
    default:
      return refuse (error, "placement %u is unknown", arena_envelope_field_placement (field));
    }
}

static gboolean
check_fields (const ArenaEnvelope *self,
              const Progress      *sizes,
              GError             **error)
{
  Progress progress = { .data = sizeof (ArenaEnvelopeHeader) };

  for (guint i = 0; i < self->header->n_fields; i++)
    {
      const ArenaEnvelopeField *field = &self->fields[i];

      if ((field->kind & ~(ARENA_FIELD_PLACEMENT | ARENA_FIELD_HAS_STRIDES | ARENA_FIELD_HAS_NAME)) != 0)
        return refuse (error, "field %u has unknown flags", i);
      if (!check_shape (self, field, &progress, error) ||
          !check_placement (self, field, sizes, &progress, error) ||
          !check_name (self, field, &progress, error))
        {
          g_prefix_error (error, "field %u: ", i);
          return FALSE;
        }
    }

  if (progress.n_words != self->header->n_words || progress.names != self->header->names_size)
    return refuse (error, "words or names that no field has");
  if (progress.storage != sizes->storage)
    return refuse (error,
                   "fields of %" G_GUINT64_FORMAT " bytes where the unit took %" G_GUINT64_FORMAT,
                   progress.storage,
                   sizes->storage);
  if (progress.spill != sizes->spill)
    return refuse (error,
                   "fields of %" G_GUINT64_FORMAT " bytes outside of the arena where %" G_GUINT64_FORMAT " came",
                   progress.spill,
                   sizes->spill);

  return TRUE;
}

gboolean
arena_envelope_decode (ArenaEnvelope *self,
                       const guint8  *data,
                       gsize          size,
                       guint64        storage_size,
                       guint64        spill_size,
                       GError       **error)
{
  const ArenaEnvelopeHeader *header = (gconstpointer) data;
  const Progress sizes = { .storage = storage_size, .spill = spill_size };

  if (size < sizeof *header)
    return refuse (error, "%" G_GSIZE_FORMAT " bytes are less than a header", size);
  if (!check_header (header, size, error) || !check_value_and_payload (header, error))
    return FALSE;

  self->header = header;
  self->fields = (gconstpointer) (data + header->table);
  self->words = (gconstpointer) (self->fields + header->n_fields);
  self->names = (gconstpointer) (self->words + header->n_words);
  return check_fields (self, &sizes, error);
}
