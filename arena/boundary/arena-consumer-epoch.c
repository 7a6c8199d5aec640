/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include "base/arena-error-private.h"
#include "boundary/arena-remote-error-private.h"
#include "boundary/arena-spill-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"

/* Iterations. To begin epoch e + 1 while e runs: tell e to stop; read and release everything up to its END or ERROR; only
 * then ask for e + 1. So the queue is empty when an epoch begins, its END always finds a slot, and no number is skipped;
 * a start that is cancelled while it drains goes on later with the same number.
 */

static void
begin_epoch (ArenaConsumerPrivate *priv)
{
  priv->epoch++;
  priv->epoch_state = ARENA_EPOCH_RUNNING;
  priv->restart = FALSE;
  atomic_store_explicit (&priv->channel->cc->wanted_epoch, priv->epoch, memory_order_seq_cst);
  arena_kill_point (ARENA_KILL_AFTER_EPOCH_STORE);
  arena_event_signal (priv->channel->wake_producer);
}

void
arena_consumer_stop_epoch (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (priv->epoch_state != ARENA_EPOCH_RUNNING)
    return;

  priv->epoch_state = ARENA_EPOCH_STOPPING;
  atomic_store_explicit (&priv->channel->cc->stop_epoch, priv->epoch, memory_order_seq_cst);
  arena_kill_point (ARENA_KILL_AFTER_STOP_STORE);
  arena_event_signal (priv->channel->wake_producer);
}

gboolean
arena_consumer_start_epoch (ArenaConsumer  *self,
                            GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  arena_consumer_stop_epoch (self);
  if (priv->epoch_state == ARENA_EPOCH_STOPPING)
    {
      priv->restart = TRUE;
      return TRUE;
    }

  /* A worker that left in stand-by is noticed here, when it is needed again. */
  arena_peer_look (&priv->channel->peer);
  if (!arena_channel_check_consumer (priv->channel, error))
    return FALSE;

  if (arena_reader_enter_epoch (priv->reader, priv->epoch + 1, error))
    {
      begin_epoch (priv);
      return TRUE;
    }

  return FALSE;
}

/* Checks what only the consumer can know of a descriptor. */
static gboolean
check_turn (ArenaConsumerPrivate  *priv,
            const ArenaSlot       *slot,
            GError               **error)
{
  if (slot->epoch == priv->epoch && slot->unit == priv->next_unit)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
               "A descriptor of unit %" G_GUINT64_FORMAT " in iteration %" G_GUINT64_FORMAT " came instead of unit %"
               G_GUINT64_FORMAT " in iteration %" G_GUINT64_FORMAT,
               slot->unit, slot->epoch, priv->next_unit, priv->epoch);
  return FALSE;
}

/* The unit's bytes under their lease; of a thrown-away unit nothing is read, which releases them. Ended in any case: a
 * unit left open would refuse the next. */
static gboolean
read_storage (ArenaConsumerPrivate  *priv,
              const ArenaSlot       *slot,
              gboolean               discard,
              GBytes               **storage,
              GError               **error)
{
  g_autoptr(GBytes) bytes = NULL;

  *storage = NULL;
  if (slot->size == 0)
    return TRUE;

  bytes = arena_reader_read (priv->reader, slot->span, slot->offset, discard ? 0 : (gsize) slot->size, error);
  if (bytes == NULL)
    {
      arena_reader_end_unit (priv->reader, slot->span, NULL);
      return FALSE;
    }

  arena_starvation_note (&priv->starvation, slot->index, slot->unit);
  if (!arena_reader_end_unit (priv->reader, slot->span, error))
    return FALSE;

  if (!discard)
    *storage = g_steal_pointer (&bytes);
  return TRUE;
}

/* Once: what would keep units like this one inside. */
static void
hint_at_size (ArenaConsumerPrivate  *priv,
              const ArenaSlot       *slot,
              GBytes                *spill)
{
  const ArenaGeometry *geometry = &priv->channel->geometry;
  gboolean ring = geometry->kind == ARENA_KIND_RING;
  guint64 size = ring ? geometry->capacity : geometry->segment_size;

  priv->spill_told = TRUE;
  if (spill != NULL)
    g_info ("Unit %" G_GUINT64_FORMAT " came with %" G_GSIZE_FORMAT " bytes outside of the arena, beside %"
            G_GUINT64_FORMAT " in it; where that happens often, make %s larger than %" G_GUINT64_FORMAT,
            slot->unit, g_bytes_get_size (spill), slot->size, ring ? "capacity" : "segment_size", size);
  else
    g_info ("Unit %" G_GUINT64_FORMAT " came with an envelope of %u bytes; where that happens often, make "
            "envelope_size larger than %" G_GUINT64_FORMAT,
            slot->unit, slot->envelope_size, geometry->envelope_size);
}

/* What came outside of the arena. Without it the unit is lost, and its place in the arena given back. */
static gboolean
take_spill (ArenaConsumerPrivate  *priv,
            const ArenaSlot       *slot,
            GBytes               **spill,
            guint8               **envelope,
            GError               **error)
{
  g_autoptr(GBytes) storage = NULL;

  if (!arena_spill_receive (priv->channel, &priv->spill_number, slot, spill, envelope, error))
    {
      read_storage (priv, slot, TRUE, &storage, NULL);
      return FALSE;
    }

  if (!priv->spill_told)
    hint_at_size (priv, slot, *spill);
  return TRUE;
}

static void
end_epoch (ArenaConsumerPrivate *priv)
{
  priv->epoch_state = ARENA_EPOCH_ENDED;
}

/* Keeps the record for dup_remote_error() and turns it into an error. */
static gboolean
report_remote (ArenaConsumerPrivate  *priv,
               const guint8          *envelope,
               gsize                  size,
               GError               **error)
{
  ArenaRemoteError *remote = arena_remote_error_decode (envelope, size, error);

  if (remote == NULL)
    return FALSE;

  if (arena_remote_error_get_item (remote) >= 0)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE, "The worker failed at item %" G_GINT64_FORMAT ": %s: %s",
                 arena_remote_error_get_item (remote), arena_remote_error_get_type_name (remote),
                 arena_remote_error_get_message (remote));
  else
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE, "The worker failed: %s: %s",
                 arena_remote_error_get_type_name (remote), arena_remote_error_get_message (remote));

  g_mutex_lock (&priv->mutex);
  g_clear_pointer (&priv->remote_error, arena_remote_error_free);
  priv->remote_error = remote;
  g_mutex_unlock (&priv->mutex);
  return FALSE;
}

static gboolean
take_descriptor (ArenaConsumer  *self,
                 ArenaSlot      *slot,
                 guint8        **envelope,
                 gint64          deadline,
                 GCancellable   *cancellable,
                 GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  *envelope = NULL;
  return arena_consumer_wait (self, deadline, cancellable, error) &&
         arena_queue_in_take (&priv->queue, slot, envelope, error) && check_turn (priv, slot, error);
}

gboolean
arena_consumer_drain_epoch (ArenaConsumer  *self,
                            gint64          deadline,
                            GCancellable   *cancellable,
                            GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  while (priv->epoch_state == ARENA_EPOCH_STOPPING)
    {
      g_autofree guint8 *envelope = NULL;
      g_autoptr(GBytes) storage = NULL;
      ArenaSlot slot;

      if (!take_descriptor (self, &slot, &envelope, deadline, cancellable, error))
        return FALSE;

      if (slot.kind != ARENA_SLOT_UNIT)
        {
          end_epoch (priv);
          break;
        }

      priv->next_unit++;
      if (!read_storage (priv, &slot, TRUE, &storage, error) ||
          (slot.spilled && !arena_spill_discard (priv->channel, &priv->spill_number, &slot, error)))
        return FALSE;
    }

  if (!priv->restart)
    return TRUE;

  if (!arena_reader_enter_epoch (priv->reader, priv->epoch + 1, error))
    return FALSE;

  begin_epoch (priv);
  return TRUE;
}

gboolean
arena_consumer_take_unit (ArenaConsumer  *self,
                          ArenaReceived  *received,
                          gint64          deadline,
                          GCancellable   *cancellable,
                          GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autofree guint8 *envelope = NULL;
  g_autoptr(GBytes) storage = NULL;
  g_autoptr(GBytes) spill = NULL;
  ArenaSlot slot;

  if (!take_descriptor (self, &slot, &envelope, deadline, cancellable, error))
    return FALSE;

  if (slot.kind == ARENA_SLOT_END)
    {
      end_epoch (priv);
      return FALSE;
    }

  if (slot.kind == ARENA_SLOT_ERROR)
    {
      end_epoch (priv);
      report_remote (priv, envelope, slot.envelope_size, error);
      return FALSE;
    }

  priv->next_unit++;
  if (G_UNLIKELY (slot.spilled) && !take_spill (priv, &slot, &spill, &envelope, error))
    return FALSE;
  if (!read_storage (priv, &slot, FALSE, &storage, error))
    return FALSE;

  atomic_fetch_add_explicit (&priv->n_units, 1, memory_order_relaxed);
  *received = (ArenaReceived) {
    .sequence = slot.unit,
    .epoch = slot.epoch,
    .envelope = g_steal_pointer (&envelope),
    .envelope_size = slot.envelope_size,
    .storage = g_steal_pointer (&storage),
    .spill = g_steal_pointer (&spill),
  };
  return TRUE;
}
