/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-ring-private.h"

#include "backend/arena-reader-private.h"
#include "base/arena-checked-private.h"
#include "base/arena-error-private.h"
#include "base/arena-layout-private.h"
#include "memory/arena-copy-policy-private.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"

/* What is read are copies, so a unit goes back when it is ended, by the reading thread: nothing outlives that, and no
 * lease is needed. Positions are the writer's: a unit lies between the end of the one before and its own end, which is
 * its span. Where units were skipped, it begins somewhere in between; giving back goes by the end and so takes them
 * along. */

#define FIRST_TRIAL 12 /* laps of copying before it: the writer has had its own by then */

struct _ArenaRingReader
{
  ArenaOwnReader own;
  guint64        charged_capacity;
  guint64        data_size;
  guint64        origin; /* position 0 of the memory */
  guint64        start;  /* of the unit received last, or of what was skipped before it */
  guint64        end;    /* of the unit received last */
  guint64        ended;  /* given back up to here */
  ArenaCopyPolicy copying;
};

G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaRingReader, own) == 0);

enum
{
  PROP_ZERO_COPY = 1,
};

static void arena_ring_reader_iface_init (ArenaReaderInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaRingReader, arena_ring_reader, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_READER, arena_ring_reader_iface_init))

gboolean
arena_ring_reader_receive (ArenaRingReader  *self,
                           guint64           span,
                           GError          **error)
{
  if (!arena_own_reader_attach (&self->own, error))
    return FALSE;

  if (span <= self->end || span > ARENA_CURSOR_MAX || span - self->ended > self->charged_capacity ||
      (span - self->origin) % ARENA_FIELD_ALIGNMENT != 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                   "The producer handed over position %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT
                   ", must be a multiple of %d more, and at most %" G_GUINT64_FORMAT,
                   span, self->end, ARENA_FIELD_ALIGNMENT, self->charged_capacity);
      return FALSE;
    }

  self->start = self->end;
  self->end = span;
  arena_storage_count (&self->own.storage->units, 1);
  arena_storage_note_use (self->own.storage, self->end - self->ended);
  return TRUE;
}

static gboolean
arena_ring_reader_enter_epoch (ArenaReader  *reader,
                               guint64       epoch,
                               GError      **error)
{
  if (!arena_own_reader_enter_epoch ((ArenaOwnReader *) reader, error))
    return FALSE;

  arena_copy_policy_restart (&ARENA_RING_READER (reader)->copying);
  return TRUE;
}

/* Where these bytes of the unit are; NULL where they are not all in it. */
static const guint8 *
locate (ArenaRingReader  *self,
        guint64           offset,
        gsize             size,
        GError          **error)
{
  guint64 start = (self->start - self->origin) % self->data_size;
  /* The writer counts from the unit's own start, which may already lie behind the seam when what was skipped didn't. */
  guint64 relative = offset >= start ? offset - start : offset + self->data_size - start;

  if (G_LIKELY (offset < 2 * self->data_size && arena_range_fits (relative, size, self->end - self->start)))
    return self->own.base + start + relative;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
               "%" G_GSIZE_FORMAT " bytes at %" G_GUINT64_FORMAT " are not in the unit of %" G_GUINT64_FORMAT " bytes at %"
               G_GUINT64_FORMAT,
               size, offset, self->end - self->start, start);
  return NULL;
}

static GBytes *
copy_out (ArenaRingReader  *self,
          const guint8     *source,
          gsize             size,
          GError          **error)
{
  ArenaStorage *storage = self->own.storage;
  ArenaOutputs *outputs = storage->outputs;
  gpointer buffer = outputs->take (outputs, size, error);

  if (buffer == NULL)
    return NULL;

  arena_kill_point (ARENA_KILL_BEFORE_COPY_OUT);
  arena_copy_policy_copy (&self->copying, buffer, source, size);
  arena_kill_point (ARENA_KILL_AFTER_COPY_OUT);
  arena_storage_count (&storage->bytes, size);
  return outputs->finish (outputs, buffer, size);
}

/* Behind the checked wrapper, which has received the unit. */
static GBytes *
arena_ring_reader_read (ArenaReader  *reader,
                        guint64       span,
                        guint64       offset,
                        gsize         size,
                        GError      **error)
{
  ArenaRingReader *self = ARENA_RING_READER (reader);
  const guint8 *source;

  if (!arena_channel_check_open (self->own.channel, error))
    return NULL;

  if (span != self->end || span == self->ended)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Unit %" G_GUINT64_FORMAT " is not being read", span);
      return NULL;
    }

  if (size == 0)
    return g_bytes_new (NULL, 0);

  source = locate (self, offset, size, error);
  return source != NULL ? copy_out (self, source, size, error) : NULL;
}

static gboolean
arena_ring_reader_end_unit (ArenaReader  *reader,
                            guint64       span,
                            GError      **error)
{
  ArenaRingReader *self = ARENA_RING_READER (reader);
  ArenaChannel *channel = self->own.channel;
  guint64 amount = span - self->ended;
  gboolean wake;

  if (!arena_channel_check_fork (channel, error))
    return FALSE;

  if (span != self->end || amount == 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Unit %" G_GUINT64_FORMAT " is not being read", span);
      return FALSE;
    }

  self->ended = span;
  arena_copy_policy_end_unit (&self->copying);
  arena_storage_count (&self->own.storage->given_back, 1);

  /* Nobody is told any more. */
  if ((atomic_load_explicit (&channel->local_state, memory_order_seq_cst) & ARENA_STATE_CLOSED) != 0)
    return TRUE;

  arena_kill_point (ARENA_KILL_BEFORE_RELEASE);
  wake = arena_cursor_add (&channel->cc->released, &channel->cp->want_released, amount);
  arena_kill_point (ARENA_KILL_AFTER_RELEASE_STORE);
  if (wake)
    {
      arena_event_signal (channel->wake_producer);
      arena_kill_point (ARENA_KILL_AFTER_RELEASE_WAKE);
    }

  return TRUE;
}

static void
arena_ring_reader_get_property (GObject    *object,
                                guint       property_id,
                                GValue     *value,
                                GParamSpec *pspec)
{
  if (property_id == PROP_ZERO_COPY)
    g_value_set_boolean (value, FALSE);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
arena_ring_reader_dispose (GObject *object)
{
  arena_own_reader_stop ((ArenaOwnReader *) object);

  G_OBJECT_CLASS (arena_ring_reader_parent_class)->dispose (object);
}

static void
arena_ring_reader_finalize (GObject *object)
{
  arena_own_reader_clear ((ArenaOwnReader *) object);

  G_OBJECT_CLASS (arena_ring_reader_parent_class)->finalize (object);
}

static void
arena_ring_reader_class_init (ArenaRingReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_ring_reader_get_property;
  object_class->dispose = arena_ring_reader_dispose;
  object_class->finalize = arena_ring_reader_finalize;
  g_object_class_override_property (object_class, PROP_ZERO_COPY, "zero-copy");
}

static void
arena_ring_reader_iface_init (ArenaReaderInterface *iface)
{
  iface->enter_epoch = arena_ring_reader_enter_epoch;
  iface->read = arena_ring_reader_read;
  iface->end_unit = arena_ring_reader_end_unit;
}

static void
arena_ring_reader_init (ArenaRingReader *self)
{
}

ArenaReader *
arena_ring_reader_new (ArenaStorage  *storage,
                       GError       **error)
{
  const ArenaGeometry *geometry = &storage->channel->geometry;
  g_autoptr (ArenaRingReader) self = g_object_new (ARENA_TYPE_RING_READER, NULL);

  if (!arena_own_reader_open (&self->own, storage, error))
    return NULL;

  self->charged_capacity = (geometry->capacity + ARENA_FIELD_ALIGNMENT - 1) & ~(guint64) (ARENA_FIELD_ALIGNMENT - 1);
  self->data_size = geometry->data_size;
  self->origin = geometry->first_cursor;
  self->start = self->origin;
  self->end = self->origin;
  self->ended = self->origin;
  arena_copy_policy_init (&self->copying, self->data_size, FIRST_TRIAL);
  return ARENA_READER (g_steal_pointer (&self));
}
