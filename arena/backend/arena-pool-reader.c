/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-pool-private.h"

#include "backend/arena-reader-private.h"
#include "base/arena-checked-private.h"
#include "base/arena-error-private.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"

/* Which segment a sequence is in follows from it, or with ARENA_REUSE_ANY is the producer's word, read once and judged.
 *
 * A segment is held while freed[i] is not the last sequence received from it. There is no second mark: one that was
 * cleared after the store of freed[i] would still say "held" when the producer's next unit arrives in that segment
 * (H5). received[] is written by the reading thread alone; others look at it for statistics.
 *
 * A producer can be at most N units ahead of what has been received, since it needs freed[] of the unit N before. So a
 * sequence must lie in (last, last + N], and what is skipped in there was never read and goes back at once.
 *
 * The end of a unit may come from any thread, or from inside a collector: see arena_pool_reader_release(). */

struct _ArenaPoolReader
{
  ArenaOwnReader own;
  guint64        n_segments;
  gboolean       any;     /* ARENA_REUSE_ANY */
  guint64        segment_size;
  guint64        stride;
  guint64        last;    /* sequence received last */
  guint64        index;   /* of its segment */
  guint64        start;   /* likewise, in bytes */
  ArenaWord     *received; /* per segment */
};

G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaPoolReader, own) == 0);

enum
{
  PROP_ZERO_COPY = 1,
};

static void arena_pool_reader_iface_init (ArenaReaderInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaPoolReader, arena_pool_reader, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_READER, arena_pool_reader_iface_init))

static guint64
get_received (ArenaPoolReader *self,
              guint64          index)
{
  return atomic_load_explicit (&self->received[index], memory_order_relaxed);
}

gboolean
arena_pool_reader_is_held (ArenaPoolReader *self,
                           guint            index)
{
  return atomic_load_explicit (&self->own.channel->cc->freed[index], memory_order_acquire) != get_received (self, index);
}

guint
arena_pool_reader_n_held (ArenaPoolReader *self)
{
  guint n = 0;

  for (guint i = 0; i < self->n_segments; i++)
    n += arena_pool_reader_is_held (self, i) ? 1 : 0;

  return n;
}

gboolean
arena_pool_reader_release (ArenaReader  *reader,
                           guint64       index,
                           GError      **error)
{
  ArenaPoolReader *self = (ArenaPoolReader *) reader;
  ArenaChannel *channel = self->own.channel;
  gboolean wake;

  if (!arena_channel_check_fork (channel, error))
    return FALSE;

  /* Nobody is told any more. */
  if ((atomic_load_explicit (&channel->local_state, memory_order_seq_cst) & ARENA_STATE_CLOSED) != 0)
    {
      atomic_fetch_add_explicit (&self->own.storage->given_back, 1, memory_order_relaxed);
      return TRUE;
    }

  /* The last touch of the segment is before the store of freed[i], which may hand it over at once; then the count, and
   * only then the look at who sleeps. The caller drops its reference last (H12). */
  arena_kill_point (ARENA_KILL_BEFORE_RELEASE);
  atomic_store_explicit (&channel->cc->freed[index], get_received (self, index), memory_order_release);
  arena_kill_point (ARENA_KILL_AFTER_FREED_STORE);
  wake = arena_cursor_add (&channel->cc->released, &channel->cp->want_released, 1);
  arena_kill_point (ARENA_KILL_AFTER_RELEASE_STORE);
  if (wake)
    {
      arena_event_signal (channel->wake_producer);
      arena_kill_point (ARENA_KILL_AFTER_RELEASE_WAKE);
    }

  return TRUE;
}

static gboolean
refuse (ArenaPoolReader *self,
        guint64          span,
        const char      *why,
        GError         **error)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
               "The producer handed over sequence %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT ": %s",
               span, self->last, why);
  return FALSE;
}

/* The producer may change its word at any time, so what is used is what was judged. */
static gboolean
find_segment (ArenaPoolReader *self,
              guint64          sequence,
              guint64         *index,
              GError         **error)
{
  *index = sequence % self->n_segments;
  if (self->any)
    *index = atomic_load_explicit (arena_channel_segment (self->own.channel, sequence), memory_order_acquire);

  if (G_UNLIKELY (*index >= self->n_segments))
    return refuse (self, sequence, "it lies in a segment that is not there", error);
  if (G_UNLIKELY (arena_pool_reader_is_held (self, (guint) *index)))
    return refuse (self, sequence, "its segment is still held", error);

  return TRUE;
}

static gboolean
check_span (ArenaPoolReader *self,
            guint64          span,
            GError         **error)
{
  guint64 index;

  if (!arena_own_reader_attach (&self->own, error))
    return FALSE;

  if (span <= self->last || span > ARENA_CURSOR_MAX)
    return refuse (self, span, "it must grow", error);
  if (span - self->last > self->n_segments)
    return refuse (self, span, "more than the pool has segments", error);

  /* Where units were skipped, nothing is given back before all of it was looked at. */
  for (guint64 s = self->last + 1; s < span; s++)
    if (!find_segment (self, s, &index, error))
      return FALSE;

  return span == self->last + 1 || find_segment (self, span, &index, error);
}

/* Segments up to @span that have not been given back. */
static guint64
count_in_use (ArenaPoolReader *self,
              guint64          span)
{
  const ArenaChannel *channel = self->own.channel;
  guint64 released = atomic_load_explicit (&channel->cc->released, memory_order_relaxed);

  return span - (channel->geometry.first_sequence - 1) - (released - channel->geometry.first_cursor);
}

gboolean
arena_pool_reader_receive (ArenaPoolReader  *self,
                           guint64           span,
                           guint64          *index,
                           GError          **error)
{
  if (!check_span (self, span, error))
    return FALSE;

  for (guint64 s = self->last + 1; s <= span; s++)
    {
      if (!find_segment (self, s, index, error))
        return FALSE;

      self->last = s;
      atomic_store_explicit (&self->received[*index], s, memory_order_relaxed);
      arena_storage_count (&self->own.storage->units, 1);
      arena_storage_note_use (self->own.storage, count_in_use (self, s));
      if (s < span)
        arena_pool_reader_release (ARENA_READER (self), *index, NULL);
    }

  self->index = *index;
  self->start = *index * self->stride;
  return TRUE;
}

gconstpointer
arena_pool_reader_locate (ArenaPoolReader  *self,
                          guint64           offset,
                          gsize             size,
                          GError          **error)
{
  if (!arena_own_reader_map (&self->own, error))
    return NULL;

  /* Below the start this wraps to a number that fits nowhere. */
  if (G_LIKELY (arena_range_fits (offset - self->start, size, self->segment_size)))
    {
      arena_storage_count (&self->own.storage->bytes, size);
      return self->own.base + offset;
    }

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
               "%" G_GSIZE_FORMAT " bytes at %" G_GUINT64_FORMAT " are not in the %" G_GUINT64_FORMAT " bytes at %" G_GUINT64_FORMAT
               " of segment %" G_GUINT64_FORMAT,
               size, offset, self->segment_size, self->start, self->index);
  return NULL;
}

static gboolean
arena_pool_reader_enter_epoch (ArenaReader  *reader,
                               guint64       epoch,
                               GError      **error)
{
  /* Sequences and what is held go on over iterations: that is why no view is ever overwritten by a new one. */
  return arena_own_reader_enter_epoch ((ArenaOwnReader *) reader, error);
}

/* The checked wrapper goes another way, which saves a GBytes; this one is for who calls the class. */
static GBytes *
arena_pool_reader_read (ArenaReader  *reader,
                        guint64       span,
                        guint64       offset,
                        gsize         size,
                        GError      **error)
{
  return arena_reader_read (reader, span, offset, size, error);
}

static gboolean
arena_pool_reader_end_unit (ArenaReader  *reader,
                            guint64       span,
                            GError      **error)
{
  return arena_reader_end_unit (reader, span, error);
}

static void
arena_pool_reader_get_property (GObject    *object,
                                guint       property_id,
                                GValue     *value,
                                GParamSpec *pspec)
{
  if (property_id == PROP_ZERO_COPY)
    g_value_set_boolean (value, TRUE);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
arena_pool_reader_dispose (GObject *object)
{
  arena_own_reader_stop ((ArenaOwnReader *) object);

  G_OBJECT_CLASS (arena_pool_reader_parent_class)->dispose (object);
}

static void
arena_pool_reader_finalize (GObject *object)
{
  g_free (ARENA_POOL_READER (object)->received);
  arena_own_reader_clear ((ArenaOwnReader *) object);

  G_OBJECT_CLASS (arena_pool_reader_parent_class)->finalize (object);
}

static void
arena_pool_reader_class_init (ArenaPoolReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_pool_reader_get_property;
  object_class->dispose = arena_pool_reader_dispose;
  object_class->finalize = arena_pool_reader_finalize;
  g_object_class_override_property (object_class, PROP_ZERO_COPY, "zero-copy");
}

static void
arena_pool_reader_iface_init (ArenaReaderInterface *iface)
{
  iface->enter_epoch = arena_pool_reader_enter_epoch;
  iface->read = arena_pool_reader_read;
  iface->end_unit = arena_pool_reader_end_unit;
}

static void
arena_pool_reader_init (ArenaPoolReader *self)
{
}

ArenaReader *
arena_pool_reader_new (ArenaStorage  *storage,
                       GError       **error)
{
  const ArenaGeometry *geometry = &storage->channel->geometry;
  g_autoptr (ArenaPoolReader) self = g_object_new (ARENA_TYPE_POOL_READER, NULL);

  if (!arena_own_reader_open (&self->own, storage, error))
    return NULL;

  self->n_segments = geometry->n_segments;
  self->any = geometry->reuse == ARENA_REUSE_ANY;
  self->segment_size = geometry->segment_size;
  self->stride = geometry->stride;
  self->last = geometry->first_sequence - 1;
  self->received = g_new (ArenaWord, self->n_segments);
  for (guint64 i = 0; i < self->n_segments; i++)
    atomic_init (&self->received[i], atomic_load_explicit (&storage->channel->cc->freed[i], memory_order_relaxed));

  return ARENA_READER (g_steal_pointer (&self));
}
