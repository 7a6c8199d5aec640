/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-queue-private.h"

#include <string.h>

#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "base/arena-layout-private.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"

/* Each end keeps its own cursor and the last value it saw of the other's privately, so that a busy queue touches the
 * other side's line only when the cached value has run out. The consumer copies a slot once and judges the copy: what
 * stands in the peer's memory may change under a second look.
 */

#define PREFETCH_LINE 64
#define PREFETCH_SIZE 256 /* a descriptor and the envelope of a field or two */

static gboolean
broken_cursor (const char  *name,
               guint64      value,
               guint64      last,
               guint64      limit,
               GError     **error)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
               "The peer's %s is %" G_GUINT64_FORMAT ", outside %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
               name, value, last, limit);
  return FALSE;
}

void
arena_queue_out_init (ArenaQueueOut *self,
                      ArenaChannel  *channel)
{
  self->channel = channel;
  self->head = channel->geometry.first_cursor;
  self->tail = channel->geometry.first_cursor;
}

gboolean
arena_queue_out_has_room (ArenaQueueOut  *self,
                          GError        **error)
{
  const ArenaConsumerPage *cc = self->channel->cc;
  guint64 size = self->channel->geometry.queue_size;
  guint64 tail;

  if (self->head - self->tail < size)
    return TRUE;

  if (!arena_cursor_read (&cc->qtail, self->tail, self->head, &tail))
    return broken_cursor ("queue tail", tail, self->tail, self->head, error);

  self->tail = tail;
  return self->head - tail < size;
}

void
arena_queue_out_arm (ArenaQueueOut *self)
{
  ArenaProducerPage *cp = self->channel->cp;

  arena_cursor_arm (&cp->want_qtail, self->head - self->channel->geometry.queue_size + 1);
}

void
arena_queue_out_prefetch (ArenaQueueOut *self)
{
  const guint8 *slot = (const guint8 *) arena_channel_slot (self->channel, self->head);
  guint64 size = MIN (sizeof (ArenaSlot) + self->channel->geometry.envelope_size, PREFETCH_SIZE);

  for (guint64 at = 0; at < size; at += PREFETCH_LINE)
    arena_prefetch_for_write (slot + at);
}

guint8 *
arena_queue_out_envelope (ArenaQueueOut *self)
{
  return (guint8 *) (arena_channel_slot (self->channel, self->head) + 1);
}

void
arena_queue_out_publish (ArenaQueueOut   *self,
                         const ArenaSlot *slot)
{
  ArenaProducerPage *cp = self->channel->cp;
  const ArenaConsumerPage *cc = self->channel->cc;
  gboolean wake;

  /* A wait that said WOULD_BLOCK left its need standing; a consumer that saw it together with this descriptor would
   * call itself the cause of a wait that is over. */
  if (G_UNLIKELY (atomic_load_explicit (&cp->need, memory_order_relaxed) != 0))
    atomic_store_explicit (&cp->need, 0, memory_order_seq_cst);

  *arena_channel_slot (self->channel, self->head) = *slot;
  arena_kill_point (ARENA_KILL_BEFORE_PUBLISH);
  wake = arena_cursor_publish (&cp->qhead, &cc->want_qhead, self->head, self->head + 1);
  self->head++;
  arena_kill_point (ARENA_KILL_AFTER_PUBLISH);
  if (wake)
    {
      arena_event_signal (self->channel->wake_consumer);
      arena_kill_point (ARENA_KILL_AFTER_PUBLISH_WAKE);
    }
}

void
arena_queue_in_init (ArenaQueueIn *self,
                     ArenaChannel *channel)
{
  self->channel = channel;
  self->tail = channel->geometry.first_cursor;
  self->head = channel->geometry.first_cursor;
}

gboolean
arena_queue_in_has_slot (ArenaQueueIn  *self,
                         GError       **error)
{
  const ArenaProducerPage *cp = self->channel->cp;
  guint64 limit = self->tail + self->channel->geometry.queue_size + 2;
  guint64 head;

  if (self->head > self->tail)
    return TRUE;

  if (!arena_cursor_read (&cp->qhead, self->head, limit, &head))
    return broken_cursor ("queue head", head, self->head, limit, error);

  self->head = head;
  return head > self->tail;
}

void
arena_queue_in_arm (ArenaQueueIn *self)
{
  arena_cursor_arm (&self->channel->cc->want_qhead, self->tail + 1);
}

static gboolean
check_slot (const ArenaSlot      *slot,
            const ArenaGeometry  *geometry,
            GError              **error)
{
  if (slot->kind < ARENA_SLOT_UNIT || slot->kind > ARENA_SLOT_ERROR)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "A descriptor of unknown kind %u", slot->kind);
  else if (slot->spilled > (slot->kind == ARENA_SLOT_UNIT ? 1 : 0))
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "A descriptor of kind %u announces %u messages", slot->kind,
                 slot->spilled);
  else if (slot->envelope_size > geometry->envelope_size && slot->spilled == 0)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                 "A descriptor names an envelope of %u bytes, more than the slot's %" G_GUINT64_FORMAT,
                 slot->envelope_size, geometry->envelope_size);
  else if (slot->size > 0 && geometry->kind == ARENA_KIND_NONE)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "A descriptor names storage, but there is no arena");
  else if (slot->size > 0 && slot->offset % ARENA_FIELD_ALIGNMENT != 0)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                 "A descriptor names storage at %" G_GUINT64_FORMAT ", not a multiple of %d", slot->offset,
                 ARENA_FIELD_ALIGNMENT);
  else if (slot->size > 0 && geometry->kind == ARENA_KIND_POOL && slot->index >= geometry->n_segments)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "A descriptor names segment %u of %" G_GUINT64_FORMAT,
                 slot->index, geometry->n_segments);
  else if (slot->size > 0 && geometry->kind == ARENA_KIND_POOL && geometry->reuse == ARENA_REUSE_IN_ORDER &&
           slot->index != slot->span % geometry->n_segments)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                 "A descriptor names segment %u for sequence %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " segments",
                 slot->index, slot->span, geometry->n_segments);
  else
    return TRUE;

  return FALSE;
}

gboolean
arena_queue_in_take (ArenaQueueIn  *self,
                     ArenaSlot     *slot,
                     guint8       **envelope,
                     GError       **error)
{
  const ArenaSlot *shared = arena_channel_slot (self->channel, self->tail);
  const ArenaProducerPage *cp = self->channel->cp;
  gboolean wake;

  memcpy (slot, shared, sizeof *slot);
  *envelope = NULL;
  if (!check_slot (slot, &self->channel->geometry, error))
    return FALSE;

  if (slot->envelope_size > 0 && G_LIKELY (slot->envelope_size <= self->channel->geometry.envelope_size))
    *envelope = g_memdup2 (shared + 1, slot->envelope_size);

  wake = arena_cursor_publish (&self->channel->cc->qtail, &cp->want_qtail, self->tail, self->tail + 1);
  self->tail++;
  arena_kill_point (ARENA_KILL_AFTER_TAKE_STORE);
  if (wake)
    {
      arena_event_signal (self->channel->wake_producer);
      arena_kill_point (ARENA_KILL_AFTER_TAKE_WAKE);
    }

  return TRUE;
}
