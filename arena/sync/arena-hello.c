/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-hello-private.h"

#include "base/arena-error-private.h"
#include "sync/arena-cursor-private.h"

#include <string.h>
#include <unistd.h>

/* Everything that follows from the sizes is computed in one place, for whoever creates a geometry and for whoever is
 * told one: a decoder derives the rest from the told sizes and compares. It works on a private copy of the bytes, and
 * the caller's geometry changes only once every field has been accepted. A field that a kind doesn't use is 0. */

G_STATIC_ASSERT (ARENA_MAX_DATA_SIZE <= G_MAXUINT64 / ARENA_MAX_SEGMENTS); /* so stride * n_segments can't overflow */

typedef struct
{
  ArenaError  code;  /* INVALID_ARGUMENT for an own caller, PROTOCOL for a peer */
  const char *where; /* starts every message */
  GError    **error;
} Check;

static gboolean
check_range (const Check *check,
             const char  *field,
             guint64      value,
             guint64      minimum,
             guint64      maximum)
{
  if (value >= minimum && value <= maximum)
    return TRUE;

  if (minimum == maximum)
    g_set_error (check->error, ARENA_ERROR, (int) check->code,
                 "%s: %s is %" G_GUINT64_FORMAT ", must be %" G_GUINT64_FORMAT, check->where, field, value, minimum);
  else
    g_set_error (check->error, ARENA_ERROR, (int) check->code,
                 "%s: %s is %" G_GUINT64_FORMAT ", must be %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                 check->where, field, value, minimum, maximum);
  return FALSE;
}

static gboolean
check_equal (const Check *check,
             const char  *field,
             guint64      value,
             guint64      expected)
{
  return check_range (check, field, value, expected, expected);
}

static guint64
page_size (void)
{
  return (guint64) sysconf (_SC_PAGESIZE);
}

/* For values whose limits have been checked: far from overflow. */
static guint64
round_up (guint64 value,
          guint64 alignment)
{
  return (value + alignment - 1) & ~(alignment - 1);
}

static gboolean
derive_pool (ArenaGeometry *self,
             guint64        segment_size,
             guint64        n_segments,
             const Check   *check)
{
  guint64 data_size;
  guint64 stride;

  if (!check_range (check, "count", n_segments, 1, ARENA_MAX_SEGMENTS) ||
      !check_range (check, "segment_size", segment_size, 1, ARENA_MAX_DATA_SIZE))
    return FALSE;

  stride = round_up (segment_size, page_size ());
  data_size = stride * n_segments;
  if (!check_range (check, "data_size", data_size, 1, ARENA_MAX_DATA_SIZE))
    return FALSE;

  *self = (ArenaGeometry) {
    .kind = ARENA_KIND_POOL,
    .n_segments = n_segments,
    .segment_size = segment_size,
    .stride = stride,
    .data_size = data_size,
    .first_sequence = n_segments,
  };
  return TRUE;
}

static gboolean
derive_ring (ArenaGeometry *self,
             guint64        capacity,
             const Check   *check)
{
  if (!check_range (check, "capacity", capacity, 1, ARENA_MAX_DATA_SIZE))
    return FALSE;

  *self = (ArenaGeometry) {
    .kind = ARENA_KIND_RING,
    .capacity = capacity,
    .data_size = round_up (capacity, page_size ()),
  };
  return TRUE;
}

static gboolean
derive_queue (ArenaGeometry *self,
              guint64        queue_size,
              guint64        envelope_size,
              guint64        threshold,
              const Check   *check)
{
  if (!check_range (check, "buffer_size", queue_size, 1, ARENA_MAX_QUEUE_SIZE) ||
      !check_range (check, "envelope_size", envelope_size, 1, ARENA_MAX_ENVELOPE_SIZE) ||
      !check_range (check, "threshold", threshold, 0, ARENA_MAX_ENVELOPE_SIZE))
    return FALSE;

  self->queue_size = queue_size;
  self->envelope_size = round_up (envelope_size, sizeof (ArenaSlot));
  self->threshold = threshold;
  return TRUE;
}

gboolean
arena_geometry_init_pool (ArenaGeometry  *self,
                          guint64         segment_size,
                          guint64         n_segments,
                          GError        **error)
{
  return derive_pool (self, segment_size, n_segments, &(Check) { ARENA_ERROR_INVALID_ARGUMENT, "pool", error });
}

gboolean
arena_geometry_init_ring (ArenaGeometry  *self,
                          guint64         capacity,
                          GError        **error)
{
  return derive_ring (self, capacity, &(Check) { ARENA_ERROR_INVALID_ARGUMENT, "ring", error });
}

gboolean
arena_geometry_set_queue (ArenaGeometry  *self,
                          guint64         queue_size,
                          guint64         envelope_size,
                          guint64         threshold,
                          GError        **error)
{
  const Check check = { ARENA_ERROR_INVALID_ARGUMENT, "queue", error };

  return derive_queue (self, queue_size, envelope_size, threshold, &check);
}

guint64
arena_geometry_consumer_page_size (const ArenaGeometry *self)
{
  return round_up (sizeof (ArenaConsumerPage) + self->n_segments * sizeof (ArenaWord), page_size ());
}

guint64
arena_geometry_producer_page_size (const ArenaGeometry *self)
{
  guint64 size = arena_geometry_segments_offset (self);

  if (self->reuse == ARENA_REUSE_ANY)
    size += self->n_segments * sizeof (ArenaWord);

  return round_up (size, page_size ());
}

guint64
arena_geometry_segments_offset (const ArenaGeometry *self)
{
  guint64 size = sizeof (ArenaProducerPage);

  if (self->queue_size > 0)
    size = ARENA_SLOTS_OFFSET + (self->queue_size + 2) * arena_geometry_slot_stride (self);

  return round_up (size, ARENA_LINE);
}

guint64
arena_geometry_slot_stride (const ArenaGeometry *self)
{
  return sizeof (ArenaSlot) + self->envelope_size;
}

guint
arena_geometry_n_fds (const ArenaGeometry *self)
{
  return self->kind == ARENA_KIND_NONE ? 3 : 4;
}

void
arena_hello_encode (const ArenaGeometry *geometry,
                    guint                uid,
                    ArenaHelloMessage   *message)
{
  *message = (ArenaHelloMessage) {
    .magic = ARENA_HELLO_MAGIC,
    .version = ARENA_HELLO_VERSION,
    .kind = geometry->kind,
    .n_segments = geometry->n_segments,
    .segment_size = geometry->segment_size,
    .stride = geometry->stride,
    .capacity = geometry->capacity,
    .data_size = geometry->data_size,
    .first_sequence = geometry->first_sequence,
    .first_cursor = geometry->first_cursor,
    .queue_size = geometry->queue_size,
    .envelope_size = geometry->envelope_size,
    .threshold = geometry->threshold,
    .uid = uid,
    .reuse = geometry->reuse,
    .read_only = geometry->read_only ? 1 : 0,
    .oversize = geometry->oversize,
  };
}

/* What isn't negotiated: anything else is another program, or another version of this one. */
static gboolean
check_head (const ArenaHelloMessage *message,
            const Check             *check)
{
  return check_equal (check, "magic", message->magic, ARENA_HELLO_MAGIC) &&
         check_equal (check, "version", message->version, ARENA_HELLO_VERSION) &&
         check_range (check, "kind", message->kind, ARENA_KIND_NONE, ARENA_KIND_RING) &&
         check_range (check, "uid", message->uid, 0, G_MAXUINT32) &&
         check_equal (check, "reserved", message->reserved, 0);
}

static gboolean
derive_storage (const ArenaHelloMessage *message,
                ArenaGeometry           *geometry,
                const Check             *check)
{
  if (message->kind == ARENA_KIND_POOL)
    return derive_pool (geometry, message->segment_size, message->n_segments, check);
  if (message->kind == ARENA_KIND_RING)
    return derive_ring (geometry, message->capacity, check);

  *geometry = (ArenaGeometry) { .kind = ARENA_KIND_NONE };
  return TRUE;
}

static gboolean
check_storage (const ArenaHelloMessage *message,
               const ArenaGeometry     *derived,
               const Check             *check)
{
  return check_equal (check, "count", message->n_segments, derived->n_segments) &&
         check_equal (check, "segment_size", message->segment_size, derived->segment_size) &&
         check_equal (check, "stride", message->stride, derived->stride) &&
         check_equal (check, "capacity", message->capacity, derived->capacity) &&
         check_equal (check, "data_size", message->data_size, derived->data_size) &&
         check_range (check, "first_sequence", message->first_sequence, derived->n_segments,
                      derived->kind == ARENA_KIND_POOL ? ARENA_CURSOR_MAX : 0) &&
         check_range (check, "first_cursor", message->first_cursor, 0, ARENA_CURSOR_MAX) &&
         check_range (check, "reuse", message->reuse, 0, derived->kind == ARENA_KIND_POOL ? ARENA_REUSE_ANY : 0) &&
         check_range (check, "read_only", message->read_only, 0, derived->kind == ARENA_KIND_POOL ? 1 : 0) &&
         check_range (check, "oversize", message->oversize, 0,
                      derived->kind != ARENA_KIND_NONE ? ARENA_OVERSIZE_SPILL : 0);
}

/* Without an arena there must be a queue: nothing at all is no use to anybody. */
static gboolean
decode_queue (const ArenaHelloMessage *message,
              ArenaGeometry           *geometry,
              const Check             *check)
{
  if (message->queue_size == 0 && message->kind != ARENA_KIND_NONE)
    return check_equal (check, "envelope_size", message->envelope_size, 0) &&
           check_equal (check, "threshold", message->threshold, 0);

  return derive_queue (geometry, message->queue_size, message->envelope_size, message->threshold, check) &&
         check_equal (check, "envelope_size", message->envelope_size, geometry->envelope_size);
}

gboolean
arena_hello_decode (const void     *data,
                    gsize           size,
                    ArenaGeometry  *geometry,
                    guint          *uid,
                    GError        **error)
{
  const Check check = { ARENA_ERROR_PROTOCOL, "hello", error };
  ArenaHelloMessage message;
  ArenaGeometry derived;

  if (!check_equal (&check, "size", size, sizeof message))
    return FALSE;

  memcpy (&message, data, sizeof message);
  if (!check_head (&message, &check) ||
      !derive_storage (&message, &derived, &check) ||
      !check_storage (&message, &derived, &check) ||
      !decode_queue (&message, &derived, &check))
    return FALSE;

  derived.first_sequence = message.first_sequence;
  derived.first_cursor = message.first_cursor;
  derived.reuse = (ArenaReuse) message.reuse;
  derived.read_only = message.read_only != 0;
  derived.oversize = (ArenaOversize) message.oversize;
  *geometry = derived;
  *uid = (guint) message.uid;
  return TRUE;
}

void
arena_reply_encode (const ArenaGeometry *geometry,
                    ArenaReplyMessage   *message)
{
  *message = (ArenaReplyMessage) {
    .magic = ARENA_REPLY_MAGIC,
    .version = ARENA_HELLO_VERSION,
    .page_size = arena_geometry_producer_page_size (geometry),
  };
}

gboolean
arena_reply_decode (const void           *data,
                    gsize                 size,
                    const ArenaGeometry  *geometry,
                    GError              **error)
{
  const Check check = { ARENA_ERROR_PROTOCOL, "reply", error };
  ArenaReplyMessage message;

  if (!check_equal (&check, "size", size, sizeof message))
    return FALSE;

  memcpy (&message, data, sizeof message);
  return check_equal (&check, "magic", message.magic, ARENA_REPLY_MAGIC) &&
         check_equal (&check, "version", message.version, ARENA_HELLO_VERSION) &&
         check_equal (&check, "reserved", message.reserved, 0) &&
         check_equal (&check, "page_size", message.page_size, arena_geometry_producer_page_size (geometry));
}
