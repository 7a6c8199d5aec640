/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/arena-enums.h"
#include "sync/arena-hello-layout-private.h"

G_BEGIN_DECLS

#define ARENA_MAX_SEGMENTS      65536
#define ARENA_MAX_QUEUE_SIZE    65536
#define ARENA_MAX_ENVELOPE_SIZE (G_GUINT64_CONSTANT (1) << 24)
#define ARENA_MAX_DATA_SIZE     (G_GUINT64_CONSTANT (1) << 46)

typedef enum
{
  ARENA_KIND_NONE = 0, /* a queue without an arena */
  ARENA_KIND_POOL = 1,
  ARENA_KIND_RING = 2,
} ArenaKind;

/* Everything both sides must agree on. Each keeps a private copy and never reads it again from shared memory. */
typedef struct
{
  ArenaKind  kind;
  ArenaReuse reuse;          /* pool only */
  gboolean   read_only;      /* pool only: the consumer maps the data read-only, once the producer has sealed it */
  ArenaOversize oversize;    /* pool and ring */
  guint64    n_segments;
  guint64    segment_size;
  guint64    stride;
  guint64    capacity;
  guint64    data_size;
  guint64    first_sequence; /* pool only */
  guint64    first_cursor;
  guint64    queue_size;
  guint64    envelope_size;
  guint64    threshold;
} ArenaGeometry;

/* Fills in what follows from sizes: INVALID_ARGUMENT for zero or absurd ones, with the limit. */
gboolean arena_geometry_init_pool (ArenaGeometry  *self,
                                   guint64         segment_size,
                                   guint64         n_segments,
                                   GError        **error);
gboolean arena_geometry_init_ring (ArenaGeometry  *self,
                                   guint64         capacity,
                                   GError        **error);
/* queue_size 0 and envelope_size 0 are INVALID_ARGUMENT here. The envelope area is rounded up, so that every slot
 * starts on a line. Also makes a geometry without an arena out of a zeroed one. */
gboolean arena_geometry_set_queue (ArenaGeometry  *self,
                                   guint64         queue_size,
                                   guint64         envelope_size,
                                   guint64         threshold,
                                   GError        **error);

guint64  arena_geometry_consumer_page_size (const ArenaGeometry *self); /* bytes, page-rounded */
guint64  arena_geometry_producer_page_size (const ArenaGeometry *self);
guint64  arena_geometry_slot_stride        (const ArenaGeometry *self);
/* Where the producer page lists its segments, one for each sequence modulo their number; with ARENA_REUSE_ANY only. */
guint64  arena_geometry_segments_offset    (const ArenaGeometry *self);
/* Descriptors a hello carries. */
guint    arena_geometry_n_fds              (const ArenaGeometry *self);

/* Pure, over bytes: fuzzed. A decoder believes nothing: magic, version, every limit, every product, and that the
 * sizes agree with one another. PROTOCOL, naming the field. */
void     arena_hello_encode  (const ArenaGeometry *geometry,
                              guint                uid,
                              ArenaHelloMessage   *message);
gboolean arena_hello_decode  (const void          *data,
                              gsize                size,
                              ArenaGeometry       *geometry,
                              guint               *uid,
                              GError             **error);
void     arena_reply_encode  (const ArenaGeometry *geometry,
                              ArenaReplyMessage   *message);
gboolean arena_reply_decode  (const void          *data,
                              gsize                size,
                              const ArenaGeometry *geometry,
                              GError             **error);

G_END_DECLS
