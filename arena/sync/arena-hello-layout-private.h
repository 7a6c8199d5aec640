/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What the two ends tell each other once, over the socket. Fixed width, native byte order (one machine), no padding. */

#define ARENA_HELLO_MAGIC   G_GUINT64_CONSTANT (0x314f4c4c45484141) /* "AAHELLO1" */
#define ARENA_REPLY_MAGIC   G_GUINT64_CONSTANT (0x31594c5045524141) /* "AAREPLY1" */
#define ARENA_HELLO_VERSION 1

/* Consumer to producer; descriptors: consumer page, event of the producer, event of the consumer and, with
 * kind != ARENA_KIND_NONE, the data. */
typedef struct
{
  guint64 magic;
  guint32 version;
  guint32 kind;           /* ArenaKind */
  guint64 n_segments;     /* pool; ring: 0 */
  guint64 segment_size;   /* pool: usable bytes of one segment */
  guint64 stride;         /* pool: page-aligned distance of segments */
  guint64 capacity;       /* ring: usable bytes */
  guint64 data_size;      /* of the data file */
  guint64 first_sequence; /* s0 >= n_segments */
  guint64 first_cursor;   /* every other cursor starts here; > 0 only in tests */
  guint64 queue_size;     /* units that may be queued; the queue has two slots more. 0: no queue */
  guint64 envelope_size;  /* bytes of a slot's envelope area */
  guint64 threshold;      /* smaller leaves live in the envelope */
  guint64 uid;
  guint32 reuse;          /* ArenaReuse; not a pool: 0 */
  guint32 read_only;      /* pool: 1 where the consumer never writes to the data; else 0 */
  guint32 oversize;       /* ArenaOversize; without an arena 0 */
  guint32 reserved;
} ArenaHelloMessage;

/* Producer to consumer; descriptor: producer page. */
typedef struct
{
  guint64 magic;
  guint32 version;
  guint32 reserved;
  guint64 page_size; /* bytes of the producer page with its slots */
} ArenaReplyMessage;

G_STATIC_ASSERT (sizeof (ArenaHelloMessage) == 15 * 8);
G_STATIC_ASSERT (sizeof (ArenaReplyMessage) == 3 * 8);

G_END_DECLS
