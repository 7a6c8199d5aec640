/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-writer-state-private.h"

#include "base/arena-error-private.h"
#include "sync/arena-timing-private.h"

/* One thread writes, so nothing here is locked or atomic but the statistics, which the other side reads. */

#define FIRST_TRIAL 4 /* laps of copying before it; the ring's reader waits longer */

void
arena_writer_state_init (ArenaWriterState *self,
                         ArenaStorage     *storage,
                         const char       *what)
{
  self->storage = arena_storage_ref (storage);
  self->channel = storage->channel;
  self->data = arena_mapping_ref (storage->data);
  self->base = arena_mapping_get_data (self->data);
  self->what = what;
  arena_copy_policy_init (&self->copying, self->channel->geometry.data_size, FIRST_TRIAL);
  arena_waiter_init (&self->waiter, self->channel->wake_producer, &self->channel->peer);
}

void
arena_writer_state_clear (ArenaWriterState *self)
{
  arena_writer_state_close (self);
  g_clear_pointer (&self->data, arena_mapping_unref);
  g_clear_pointer (&self->storage, arena_storage_unref);
}

static gboolean
check_no_unit (ArenaWriterState  *self,
               const char        *call,
               GError           **error)
{
  if (!self->in_unit)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "%s(): unit %" G_GUINT64_FORMAT " is still open",
               call, self->n_units);
  return FALSE;
}

gboolean
arena_writer_state_start_epoch (ArenaWriterState  *self,
                                guint64            epoch,
                                GError           **error)
{
  if (!arena_channel_check_open (self->channel, error) || !check_no_unit (self, "start_epoch", error))
    return FALSE;

  if (epoch == 0 || epoch < self->epoch)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
                   "epoch is %" G_GUINT64_FORMAT ", must be at least %" G_GUINT64_FORMAT, epoch, MAX (self->epoch, 1));
      return FALSE;
    }

  self->epoch = epoch;
  arena_copy_policy_restart (&self->copying);
  return TRUE;
}

gboolean
arena_writer_state_prepare (ArenaWriterState  *self,
                            gint64             timeout,
                            GCancellable      *cancellable,
                            GError           **error)
{
  if (!arena_channel_check_open (self->channel, error) || !check_no_unit (self, "begin_unit", error) ||
      !arena_channel_check_producer (self->channel, self->epoch, error))
    return FALSE;

  self->deadline = arena_deadline_from_timeout (timeout);
  g_set_object (&self->cancellable, cancellable);
  return TRUE;
}

void
arena_writer_state_open (ArenaWriterState *self)
{
  self->in_unit = TRUE;
  self->layout.end = 0;
  self->n_fields = 0;
}

gboolean
arena_writer_state_check_open (ArenaWriterState  *self,
                               const char        *call,
                               GError           **error)
{
  if (!arena_channel_check_open (self->channel, error))
    return FALSE;
  if (G_LIKELY (self->in_unit))
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "%s(): no unit is open", call);
  return FALSE;
}

void
arena_writer_state_refuse_size (ArenaWriterState  *self,
                                GError           **error,
                                const char        *format,
                                ...)
{
  const ArenaGeometry *geometry = &self->channel->geometry;
  gboolean alone = geometry->oversize == ARENA_OVERSIZE_SPILL && geometry->queue_size == 0;
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, ARENA_ERROR, alone ? ARENA_ERROR_NOT_SUPPORTED : ARENA_ERROR_TOO_LARGE, "%s%s", text,
               alone ? "; oversize=spill takes a producer and its consumer, not a writer alone" : "");
}

gboolean
arena_writer_state_place (ArenaWriterState  *self,
                          guint64            size,
                          guint64            alignment,
                          guint64            limit,
                          const char        *limit_name,
                          ArenaLayout       *layout,
                          guint64           *offset,
                          GError           **error)
{
  *layout = self->layout;
  if (G_LIKELY (arena_layout_place (layout, size, alignment, limit, offset)))
    return TRUE;

  arena_writer_state_refuse_size (self, error, "Field %u of %" G_GUINT64_FORMAT " bytes, after %" G_GUINT64_FORMAT
                                  " used, does not fit into %s %" G_GUINT64_FORMAT,
                                  self->n_fields, size, self->layout.end, limit_name, limit);
  return FALSE;
}

void
arena_writer_state_close (ArenaWriterState *self)
{
  self->in_unit = FALSE;
  arena_copy_policy_end_unit (&self->copying);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->loan, arena_loan_unref);
}

gboolean
arena_writer_state_check_wait (ArenaWriterState  *self,
                               GError           **error)
{
  guint64 state;

  if (G_LIKELY (arena_channel_check_producer (self->channel, self->epoch, error)))
    return TRUE;

  state = atomic_load_explicit (&self->channel->local_state, memory_order_seq_cst) |
          atomic_load_explicit (&self->channel->cc->state, memory_order_seq_cst);
  if ((state & ARENA_STATE_SHUTDOWN) != 0)
    g_prefix_error (error, "Shut down while waiting for %s: ", self->what);
  else
    g_prefix_error (error, "While waiting for %s: ", self->what);

  return FALSE;
}

gboolean
arena_writer_state_wait (ArenaWriterState    *self,
                         const ArenaWaitOps  *ops,
                         gpointer             data,
                         GError             **error)
{
  ArenaProducerPage *cp = self->channel->cp;
  gboolean success;

  if (!arena_waiter_enter (&self->waiter, error))
    return FALSE;

  success = arena_waiter_wait (&self->waiter, ops, data, self->deadline, self->cancellable, error);
  arena_waiter_leave (&self->waiter);

  atomic_store_explicit (&cp->storage_waits, atomic_load_explicit (&self->waiter.n_waits, memory_order_relaxed),
                         memory_order_relaxed);
  atomic_store_explicit (&cp->storage_wait_us,
                         (guint64) atomic_load_explicit (&self->waiter.waited_us, memory_order_relaxed),
                         memory_order_relaxed);
  return success;
}
