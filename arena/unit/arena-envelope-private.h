/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-dtype.h"
#include "unit/arena-envelope-layout-private.h"

G_BEGIN_DECLS

#define ARENA_MAX_FIELDS       4096
#define ARENA_MAX_DIMS         32
#define ARENA_MAX_NAME         1024 /* bytes, without the NUL */
#define ARENA_MAX_CONTENT_TYPE 255  /* likewise */
#define ARENA_MAX_ENVELOPE     (G_MAXUINT32 & ~15u) /* bytes, wherever it is */

/* Writing. Data goes straight into the area as it arrives, the sections behind it are gathered aside and copied there
 * at the end. Whoever adds something sees to the room first; so finish() never fails. */
typedef struct
{
  guint8 *area;    /* 16-aligned: the slot's, not owned, or heap */
  guint64 size;    /* of the slot's */
  guint64 room;    /* of the area */
  guint64 end;     /* of what stands in it */
  GArray *fields;  /* ArenaEnvelopeField */
  GArray *words;   /* guint64 */
  GByteArray *names;
  guint n_handled;         /* fields that the value's handles ask for */
  ArenaEnvelopeHeader header;
  gboolean may_grow;       /* beyond the slot */
  guint8 *slot;            /* its area */
  guint8 *heap;            /* owned; NULL while the slot is large enough */
} ArenaEnvelopeEncoder;

void     arena_envelope_encoder_init        (ArenaEnvelopeEncoder     *self);
void     arena_envelope_encoder_clear       (ArenaEnvelopeEncoder     *self);
/* @size holds at least the header. */
void     arena_envelope_encoder_begin       (ArenaEnvelopeEncoder     *self,
                                             guint8                   *area,
                                             gsize                     size);
/* Gives back what was made for an envelope that outgrew its slot. */
void     arena_envelope_encoder_shrink      (ArenaEnvelopeEncoder     *self);
/* Makes room for an envelope of @whole bytes, which has not enough. TOO_LARGE, saying that @what needs it; NO_SPACE. */
gboolean arena_envelope_encoder_grow        (ArenaEnvelopeEncoder     *self,
                                             const char               *what,
                                             guint64                   whole,
                                             GError                  **error);
/* What a field takes in the sections; from @field: name_size, n_dims and kind. */
gsize    arena_envelope_field_record_size   (const ArenaEnvelopeField *field);
/* The size of the whole if @record_size bytes were added to the sections and @data_size to the data. */
guint64  arena_envelope_encoder_size_with   (ArenaEnvelopeEncoder     *self,
                                             guint64                   record_size,
                                             guint64                   data_size);
/* Gives room for an inline field. */
guint64  arena_envelope_encoder_take_data   (ArenaEnvelopeEncoder     *self,
                                             gsize                     size);
/* Fills in the words and name of @field. @byte_strides and @name are read where its kind says so. */
void     arena_envelope_encoder_add_field   (ArenaEnvelopeEncoder     *self,
                                             const ArenaEnvelopeField *field,
                                             const char               *name,
                                             const guint64            *shape,
                                             const gint64             *byte_strides);
/* Both: INVALID_STATE a second time, TOO_LARGE without room, INVALID_ARGUMENT for a content type that is none and for a
 * value that can't travel. */
gboolean arena_envelope_encoder_set_value   (ArenaEnvelopeEncoder     *self,
                                             GVariant                 *value,
                                             GError                  **error);
gboolean arena_envelope_encoder_set_payload (ArenaEnvelopeEncoder     *self,
                                             const char               *content_type,
                                             const guint8             *payload,
                                             gsize                     n_bytes,
                                             GError                  **error);
/* Returns the envelope's size: it is in the slot, or where that is too small, in the area. */
gsize    arena_envelope_encoder_finish      (ArenaEnvelopeEncoder     *self);

/* Reading: pointers into a checked envelope, valid as long as it is. */
typedef struct
{
  const ArenaEnvelopeHeader *header;
  const ArenaEnvelopeField *fields;
  const guint64 *words;
  const char *names;
} ArenaEnvelope;

/* Checks everything there is to check: what follows needs no check. @data is 8-aligned and private: a peer that could
 * still write to it would make every check worthless. PROTOCOL unless it describes a unit of exactly @storage_size
 * bytes in the arena and @spill_size outside. */
gboolean arena_envelope_decode (ArenaEnvelope  *self,
                                const guint8   *data,
                                gsize           size,
                                guint64         storage_size,
                                guint64         spill_size,
                                GError        **error);

static inline ArenaPlacement
arena_envelope_field_placement (const ArenaEnvelopeField *field)
{
  return (ArenaPlacement) (field->kind & ARENA_FIELD_PLACEMENT);
}

static inline guint
arena_envelope_field_n_words (const ArenaEnvelopeField *field)
{
  return (field->kind & ARENA_FIELD_HAS_STRIDES) != 0 ? 2u * field->n_dims : field->n_dims;
}

static inline guint64
arena_envelope_round_up (guint64 offset)
{
  return (offset + ARENA_ENVELOPE_SECTION_ALIGNMENT - 1) & ~(guint64) (ARENA_ENVELOPE_SECTION_ALIGNMENT - 1);
}

/* NULL where there is none: these six. */
static inline const char *
arena_envelope_get_name (const ArenaEnvelope      *self,
                         const ArenaEnvelopeField *field)
{
  return (field->kind & ARENA_FIELD_HAS_NAME) != 0 ? self->names + field->name : NULL;
}

static inline const gint64 *
arena_envelope_get_strides (const ArenaEnvelope      *self,
                            const ArenaEnvelopeField *field)
{
  const guint64 *words = self->words + field->words + field->n_dims;

  return (field->kind & ARENA_FIELD_HAS_STRIDES) != 0 ? (const gint64 *) words : NULL;
}

static inline const char *
arena_envelope_get_value_type (const ArenaEnvelope *self)
{
  return self->header->value != 0 ? (const char *) self->header + self->header->value : NULL;
}

static inline const guint8 *
arena_envelope_get_value (const ArenaEnvelope *self)
{
  const guint8 *section = (const guint8 *) self->header + self->header->value;

  return self->header->value != 0 ? section + arena_envelope_round_up (self->header->value_type_size) : NULL;
}

static inline const char *
arena_envelope_get_content_type (const ArenaEnvelope *self)
{
  return self->header->payload != 0 ? (const char *) self->header + self->header->payload : NULL;
}

static inline const guint8 *
arena_envelope_get_payload (const ArenaEnvelope *self)
{
  const guint8 *section = (const guint8 *) self->header + self->header->payload;

  return self->header->payload != 0 ? section + arena_envelope_round_up (self->header->content_type_size) : NULL;
}

G_END_DECLS
