/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-storage-private.h"

#include "base/arena-error.h"
#include "memory/arena-pin-private.h"

/* Memory that a consumer wants pinned for a device: a pool's own, a ring's copies. No lock is held while a device is asked
 * for anything, so statistics and other threads don't wait for it; that only one reader is ever opened keeps it to one
 * thread. */

static gsize
keep_bytes (const ArenaGeometry *geometry)
{
  return (gsize) (2 * geometry->capacity); /* limited to 2^46 */
}

/* Of a ring, once a reader asks for it: pinned, it needs the device. Not locked, since that may take its time; the reader
 * is opened once. */
static gboolean
open_outputs (ArenaStorage  *self,
              GError       **error)
{
  gsize keep = keep_bytes (&self->channel->geometry);
  ArenaOutputs *outputs = self->pin_memory ? arena_pin_outputs_new (keep, error) : arena_recycler_new_outputs (keep);

  if (outputs == NULL)
    return FALSE;

  if (!arena_storage_lock (self, error))
    {
      arena_outputs_unref (outputs);
      return FALSE;
    }
  self->outputs = outputs;
  arena_fork_mutex_unlock (&self->mutex);
  return TRUE;
}

/* A read-only pool is pinned when it is mapped; that it can't be is known now. */
gboolean
arena_storage_prepare_reader (ArenaStorage  *self,
                              ArenaMapping  *data,
                              GError       **error)
{
  const ArenaGeometry *geometry = &self->channel->geometry;

  if (geometry->kind == ARENA_KIND_RING)
    return self->outputs != NULL || open_outputs (self, error);

  if (!self->pin_memory)
    return TRUE;

  return arena_pin_check (!geometry->read_only, (gsize) geometry->data_size, (gsize) geometry->stride, error) &&
         (data == NULL || arena_storage_pin (self, data, error));
}

gboolean
arena_storage_pin (ArenaStorage  *self,
                   ArenaMapping  *data,
                   GError       **error)
{
  guint state;

  /* First, so that a close meanwhile waits for it, and a failure to take back what was pinned is for close() to repeat. */
  if (!arena_storage_lock (self, error))
    return FALSE;
  if (self->pinned != data)
    {
      g_clear_pointer (&self->pinned, arena_mapping_unref);
      self->pinned = arena_mapping_ref (data);
    }
  arena_fork_mutex_unlock (&self->mutex);

  if (!arena_pin_mapping (data, (gsize) self->channel->geometry.stride, error))
    return FALSE;

  state = atomic_load_explicit (&self->channel->local_state, memory_order_seq_cst);
  if ((state & ARENA_STATE_CLOSED) == 0)
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "This process closed the arena");
  arena_pin_release (data, NULL);
  return FALSE;
}

gboolean
arena_storage_unpin (ArenaStorage  *self,
                     GError       **error)
{
  g_autoptr(ArenaMapping) pinned = NULL;

  if (!arena_storage_lock (self, error))
    return FALSE;
  if (self->pinned != NULL && arena_storage_count_held (self) == 0)
    pinned = arena_mapping_ref (self->pinned);
  arena_fork_mutex_unlock (&self->mutex);

  if (pinned == NULL)
    return TRUE;
  if (!arena_pin_release (pinned, error))
    return FALSE;

  if (!arena_storage_lock (self, error))
    return FALSE;
  if (self->pinned == pinned)
    g_clear_pointer (&self->pinned, arena_mapping_unref);
  arena_fork_mutex_unlock (&self->mutex);
  return TRUE;
}
