/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An envelope: what a unit is, in the queue slot after its head, or where it is too long for that, outside. Both ends
 * are on one machine, so numbers are in its byte order; every offset is from the envelope's start, every section starts
 * at a multiple of 8.
 *
 *   header
 *   data      inline fields, the value and the payload, in the order they came, without overlap
 *   table     one ArenaEnvelopeField each
 *   words     of each field in turn its shape, then its strides if it has some
 *   names     of each named field in turn its name, ended by a NUL; zeros up to a multiple of 8
 *
 * Sections follow one another without another gap, and what a field says about words and names is where the field
 * before it ends: so a reader can check everything in one pass, and nothing can be described twice. */

#define ARENA_ENVELOPE_MAGIC   0x6e766e45u /* "Envn" */
#define ARENA_ENVELOPE_VERSION 1u

#define ARENA_ENVELOPE_INLINE_ALIGNMENT  16
#define ARENA_ENVELOPE_SECTION_ALIGNMENT 8

typedef struct
{
  guint32 magic;
  guint32 version;
  guint32 size;              /* bytes of the envelope */
  guint32 n_fields;
  guint32 table;             /* offset */
  guint32 n_words;
  guint32 names_size;        /* bytes, without the zeros at the end */
  guint32 value;             /* offset of the value's type string; 0: there is none */
  guint32 value_type_size;   /* bytes with the NUL; the value follows at the next multiple of 8 */
  guint32 value_size;
  guint32 payload;           /* offset of the payload's content type; 0: there is none */
  guint32 content_type_size; /* bytes with the NUL; the payload follows at the next multiple of 8 */
  guint32 payload_size;
  guint32 reserved[3];       /* 0 */
} ArenaEnvelopeHeader;

typedef enum
{
  ARENA_PLACEMENT_EMPTY   = 0, /* a dimension is 0: no bytes anywhere */
  ARENA_PLACEMENT_INLINE  = 1, /* in the envelope, at a multiple of 16 */
  ARENA_PLACEMENT_STORAGE = 2, /* in the arena, at a multiple of 64 */
  ARENA_PLACEMENT_SPILL   = 3, /* in a memory file of the unit's own, likewise */
} ArenaPlacement;

#define ARENA_FIELD_PLACEMENT   0x0fu /* mask of ArenaPlacement */
#define ARENA_FIELD_HAS_STRIDES 0x10u
#define ARENA_FIELD_HAS_NAME    0x20u

typedef struct
{
  guint64 offset;    /* inline: in the envelope; storage: from the unit's first byte; spill: in the file */
  guint64 size;      /* bytes */
  guint32 dtype;     /* ArenaDType */
  guint32 words;     /* index of the first word */
  guint32 name;      /* offset in the names */
  guint16 name_size; /* bytes without the NUL */
  guint8 n_dims;
  guint8 kind;       /* ArenaPlacement | ARENA_FIELD_* */
} ArenaEnvelopeField;

G_STATIC_ASSERT (sizeof (ArenaEnvelopeHeader) == 64);
G_STATIC_ASSERT (sizeof (ArenaEnvelopeHeader) % ARENA_ENVELOPE_INLINE_ALIGNMENT == 0);
G_STATIC_ASSERT (sizeof (ArenaEnvelopeField) == 32);

G_END_DECLS
