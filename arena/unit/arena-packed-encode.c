/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-packed-private.h"

#include "base/arena-error.h"
#include "base/arena-layout-private.h"

#include <stdlib.h>
#include <string.h>

/* Describes a received unit, whose envelope was checked, as a record. */

static guint8 *
put_word (guint8  *at,
          guint64  word)
{
  word = GUINT64_TO_LE (word);
  memcpy (at, &word, sizeof word);
  return at + sizeof word;
}

static guint8 *
put_bytes (guint8        *at,
           gconstpointer  data,
           gsize          size)
{
  if (size > 0)
    memcpy (at, data, size);
  return at + size;
}

static guint8 *
put_zeros (guint8       *at,
           const guint8 *until)
{
  memset (at, 0, (gsize) (until - at));
  return at + (until - at);
}

/* Writes the words of every field; inline bytes will follow from *data on. */
static guint8 *
put_table (guint8              *at,
           const ArenaEnvelope *envelope,
           guint64              spill_start,
           gsize                data)
{
  for (guint i = 0; i < envelope->header->n_fields; i++)
    {
      const ArenaEnvelopeField *field = &envelope->fields[i];
      ArenaPlacement placement = arena_envelope_field_placement (field);
      gboolean in_record = placement == ARENA_PLACEMENT_INLINE;
      guint64 start = placement == ARENA_PLACEMENT_SPILL ? spill_start : 0;
      guint64 flags = (field->kind & ARENA_FIELD_HAS_STRIDES) != 0 ? ARENA_PACKED_HAS_STRIDES : 0;
      gboolean named = (field->kind & ARENA_FIELD_HAS_NAME) != 0;

      if (in_record)
        data = arena_packed_round_up (data, ARENA_ENVELOPE_INLINE_ALIGNMENT);
      at = put_word (at, in_record ? data : start + field->offset);
      at = put_word (at, field->size);
      at = put_word (at, field->dtype);
      at = put_word (at, in_record ? flags | ARENA_PACKED_IN_RECORD : flags);
      at = put_word (at, field->n_dims);
      at = put_word (at, named ? field->name_size + 1u : 0);
      for (guint j = 0; j < arena_envelope_field_n_words (field); j++)
        at = put_word (at, envelope->words[field->words + j]);
      if (in_record)
        data += (gsize) field->size;
    }

  return at;
}

/* The bytes of small fields, from @start on; with a NULL @record only their end is found. */
static gsize
put_data (guint8              *record,
          gsize                start,
          const ArenaEnvelope *envelope)
{
  const guint8 *source = (const guint8 *) envelope->header;
  gsize end = start;

  for (guint i = 0; i < envelope->header->n_fields; i++)
    {
      const ArenaEnvelopeField *field = &envelope->fields[i];

      if (arena_envelope_field_placement (field) != ARENA_PLACEMENT_INLINE)
        continue;

      start = arena_packed_round_up (end, ARENA_ENVELOPE_INLINE_ALIGNMENT);
      if (record != NULL)
        {
          put_zeros (record + end, record + start);
          put_bytes (record + start, source + field->offset, (gsize) field->size);
        }
      end = start + (gsize) field->size;
    }

  return end;
}

static guint8 *
put_head (guint8                    *at,
          const ArenaEnvelopeHeader *header,
          guint64                    sequence,
          guint64                    epoch,
          gconstpointer              storage)
{
  at = put_word (at, header->n_fields);
  at = put_word (at, GPOINTER_TO_SIZE (storage));
  at = put_word (at, sequence);
  at = put_word (at, epoch);
  at = put_word (at, header->content_type_size);
  at = put_word (at, header->payload_size);
  at = put_word (at, header->value_type_size);
  return put_word (at, header->value_size);
}

gboolean
arena_packed_join (GBytes   *storage,
                   GBytes   *spill,
                   GBytes  **joined,
                   guint64  *spill_start,
                   GError  **error)
{
  g_autoptr (GBytes) first = storage;
  g_autoptr (GBytes) second = spill;
  gsize first_size, second_size, start;
  gconstpointer first_data, second_data;
  gpointer copy = NULL;

  *spill_start = 0;
  *joined = NULL;
  if (first == NULL || second == NULL)
    {
      *joined = first != NULL ? g_steal_pointer (&first) : g_steal_pointer (&second);
      return TRUE;
    }

  first_data = g_bytes_get_data (first, &first_size);
  second_data = g_bytes_get_data (second, &second_size);
  start = arena_packed_round_up (first_size, ARENA_FIELD_ALIGNMENT);
  if (posix_memalign (&copy, ARENA_FIELD_ALIGNMENT, start + second_size) != 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "no memory for a copy of %" G_GSIZE_FORMAT
                   " bytes in the arena and %" G_GSIZE_FORMAT " outside", first_size, second_size);
      return FALSE;
    }

  memcpy (copy, first_data, first_size);
  memset ((guint8 *) copy + first_size, 0, start - first_size);
  memcpy ((guint8 *) copy + start, second_data, second_size);
  *joined = g_bytes_new_with_free_func (copy, start + second_size, free, copy);
  *spill_start = start;
  return TRUE;
}

guint8 *
arena_packed_encode (const ArenaEnvelope *envelope,
                     guint64              sequence,
                     guint64              epoch,
                     gconstpointer        storage,
                     guint64              spill_start,
                     gsize               *n_bytes)
{
  const ArenaEnvelopeHeader *header = envelope->header;
  gsize texts = ARENA_PACKED_HEAD_SIZE + header->n_fields * ARENA_PACKED_FIELD_SIZE +
                header->n_words * ARENA_PACKED_WORD;
  gsize value = arena_packed_round_up (texts + header->content_type_size + header->value_type_size + header->names_size,
                                       ARENA_PACKED_WORD);
  gsize data = value + header->value_size + header->payload_size;
  gsize size = put_data (NULL, data, envelope);
  guint8 *record = g_malloc (size);
  guint8 *at = put_head (record, header, sequence, epoch, storage);

  at = put_table (at, envelope, spill_start, data);
  at = put_bytes (at, arena_envelope_get_content_type (envelope), header->content_type_size);
  at = put_bytes (at, arena_envelope_get_value_type (envelope), header->value_type_size);
  at = put_bytes (at, envelope->names, header->names_size);
  at = put_zeros (at, record + value);
  at = put_bytes (at, arena_envelope_get_value (envelope), header->value_size);
  put_bytes (at, arena_envelope_get_payload (envelope), header->payload_size);
  put_data (record, data, envelope);
  *n_bytes = size;
  return record;
}
