/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-envelope-private.h"

G_BEGIN_DECLS

/* The record of the packed calls, as arena_producer_send_packed() documents it. */

#define ARENA_PACKED_WORD       sizeof (guint64)
#define ARENA_PACKED_HEAD_SIZE  (8 * ARENA_PACKED_WORD)
#define ARENA_PACKED_FIELD_SIZE (6 * ARENA_PACKED_WORD) /* then come its shape and byte strides */

typedef enum
{
  ARENA_PACKED_N_FIELDS,
  ARENA_PACKED_STORAGE,
  ARENA_PACKED_SEQUENCE,
  ARENA_PACKED_EPOCH,
  ARENA_PACKED_CONTENT_TYPE_SIZE, /* these two: with the NUL, 0: there is none */
  ARENA_PACKED_PAYLOAD_SIZE,
  ARENA_PACKED_VALUE_TYPE_SIZE,
  ARENA_PACKED_VALUE_SIZE,
} ArenaPackedHeadWord;

typedef enum
{
  ARENA_PACKED_POSITION,
  ARENA_PACKED_SIZE,
  ARENA_PACKED_DTYPE,
  ARENA_PACKED_FLAGS,
  ARENA_PACKED_N_DIMS,
  ARENA_PACKED_NAME_SIZE,         /* with the NUL, 0: there is none */
} ArenaPackedFieldWord;

#define ARENA_PACKED_HAS_STRIDES 1u
#define ARENA_PACKED_IN_RECORD   2u

/* A checked record that is to be sent: pointers into it, valid as long as it is. */
typedef struct
{
  const guint8 *record;
  gsize size;
  guint n_fields;
  gsize names;               /* offset of the first */
  const char *content_type;  /* NULL: no payload */
  const guint8 *payload;
  gsize payload_size;
  GVariant *value;           /* nullable */
  gsize data;                /* offset of what fields may have in the record */
  guint64 storage_size;      /* that fields of at least the threshold take, as far as 64 bits can count */
} ArenaPackedRecord;

/* One field; its words are copies in the machine's byte order. */
typedef struct
{
  guint64 position;
  guint64 size;
  guint64 dtype;
  guint64 flags;
  guint64 n_dims;
  guint64 name_size;
  const char *name;          /* nullable */
  guint64 address;
  guint64 shape[ARENA_MAX_DIMS];
  gint64 byte_strides[ARENA_MAX_DIMS];

  gsize next;                /* offset of the next field's words; 0 before the first */
  gsize next_name;
} ArenaPackedField;

/* Checks every length and number of a record. INVALID_ARGUMENT names what is wrong. */
gboolean arena_packed_record_init  (ArenaPackedRecord   *self,
                                    const guint8        *record,
                                    gsize                size,
                                    guint64              threshold,
                                    GError             **error);
void     arena_packed_record_clear (ArenaPackedRecord   *self);
/* Moves to the next field of a checked record; @field begins as { 0 }. */
void     arena_packed_field_next   (ArenaPackedField        *field,
                                    const ArenaPackedRecord *record);

static inline gsize
arena_packed_round_up (gsize offset,
                       gsize alignment)
{
  return (offset + alignment - 1) & ~(alignment - 1);
}

/* arena-packed-encode.c. All the large fields of a received unit in one piece, which is what a record's positions are
 * offsets in: @storage (taken over in any case, nullable), its bytes in the arena; or @spill (likewise), those
 * outside; or where there are both, a copy of both, in which those outside begin at @spill_start. FALSE: NO_SPACE. */
gboolean arena_packed_join         (GBytes              *storage,
                                    GBytes              *spill,
                                    GBytes             **joined,
                                    guint64             *spill_start,
                                    GError             **error);
/* Describes a received unit. @storage is the first byte of that piece in this process, or NULL. */
guint8  *arena_packed_encode       (const ArenaEnvelope *envelope,
                                    guint64              sequence,
                                    guint64              epoch,
                                    gconstpointer        storage,
                                    guint64              spill_start,
                                    gsize               *n_bytes) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
