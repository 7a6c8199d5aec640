/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-box-private.h"

/* Views outlive the unit, so what they need lies here. Counts are atomic, there is no lock:
 *
 *   n_refs         keeps the box and the envelope: one for the unit, one for each view.
 *   storage_users  keeps the bytes in the arena: one for each view of them, and the bit OWNED until the unit is
 *                  released. Nothing is added once OWNED is gone, so storage is dropped once, by whoever takes the
 *                  last away.
 *   spill->users   likewise, for what came outside of the arena.
 *
 * The view of an inline field counts in n_refs only: whoever keeps a label doesn't keep the segment of its image.
 * Nothing else changes after creation: the envelope is private and was checked whole, so it is read without a check. */

#define OWNED (1u << 31)

static ArenaUnitSpill *
spill_new (GBytes *bytes)
{
  ArenaUnitSpill *self = g_new (ArenaUnitSpill, 1);

  atomic_init (&self->users, OWNED);
  self->bytes = bytes;
  return self;
}

ArenaUnitBox *
arena_unit_box_new (guint8   *envelope,
                    gsize     envelope_size,
                    GBytes   *storage,
                    GBytes   *spill,
                    GError  **error)
{
  gsize storage_size = storage != NULL ? g_bytes_get_size (storage) : 0;
  gsize spill_size = spill != NULL ? g_bytes_get_size (spill) : 0;
  ArenaUnitBox *self = g_new (ArenaUnitBox, 1);

  atomic_init (&self->n_refs, 1);
  atomic_init (&self->storage_users, OWNED);
  self->envelope.header = (gconstpointer) envelope;
  self->storage = storage;
  self->spill = spill != NULL ? spill_new (spill) : NULL;

  if (!arena_envelope_decode (&self->envelope, envelope, envelope_size, storage_size, spill_size, error))
    {
      arena_unit_box_release (self);
      arena_unit_box_unref (self);
      return NULL;
    }

  return self;
}

void
arena_unit_box_unref (ArenaUnitBox *self)
{
  if (atomic_fetch_sub_explicit (&self->n_refs, 1, memory_order_acq_rel) != 1)
    return;

  g_free ((gpointer) self->envelope.header);
  g_free (self->spill);
  g_free (self);
}

/* The unit's own use ends. OWNED alone: the first release, and no view. */
static void
disown (atomic_uint  *users,
        GBytes      **bytes)
{
  if (atomic_fetch_and_explicit (users, ~OWNED, memory_order_acq_rel) == OWNED)
    g_clear_pointer (bytes, g_bytes_unref);
}

void
arena_unit_box_release (ArenaUnitBox *self)
{
  disown (&self->storage_users, &self->storage);
  if (G_UNLIKELY (self->spill != NULL))
    disown (&self->spill->users, &self->spill->bytes);
}

gboolean
arena_unit_box_is_released (ArenaUnitBox *self)
{
  return (atomic_load_explicit (&self->storage_users, memory_order_relaxed) & OWNED) == 0;
}

guint
arena_unit_box_get_n_views (ArenaUnitBox *self)
{
  return atomic_load_explicit (&self->n_refs, memory_order_relaxed) - 1;
}

static gboolean
use (atomic_uint *counter)
{
  guint users = atomic_load_explicit (counter, memory_order_relaxed);

  while ((users & OWNED) != 0)
    if (atomic_compare_exchange_weak_explicit (counter,
                                               &users,
                                               users + 1,
                                               memory_order_relaxed,
                                               memory_order_relaxed))
      return TRUE;

  return FALSE;
}

static void
end_use (atomic_uint  *users,
         GBytes      **bytes)
{
  if (atomic_fetch_sub_explicit (users, 1, memory_order_acq_rel) == 1)
    g_clear_pointer (bytes, g_bytes_unref);
}

/* Free functions of the views: on any thread, or inside a collector. */
static void
end_inline_view (gpointer data)
{
  arena_unit_box_unref (data);
}

static void
end_storage_view (gpointer data)
{
  ArenaUnitBox *self = data;

  end_use (&self->storage_users, &self->storage);
  arena_unit_box_unref (self);
}

static void
end_spill_view (gpointer data)
{
  ArenaUnitBox *self = data;

  end_use (&self->spill->users, &self->spill->bytes);
  arena_unit_box_unref (self);
}

/* Never g_bytes_new_static(), not even for an empty field: its pointer stays non-NULL, and it is counted. */
static GBytes *
new_view (ArenaUnitBox   *self,
          gconstpointer   data,
          gsize           size,
          GDestroyNotify  end)
{
  atomic_fetch_add_explicit (&self->n_refs, 1, memory_order_relaxed);
  return g_bytes_new_with_free_func (data, size, end, self);
}

GBytes *
arena_unit_box_view (ArenaUnitBox             *self,
                     const ArenaEnvelopeField *field)
{
  const guint8 *data = (const guint8 *) self->envelope.header;
  GDestroyNotify end = end_inline_view;

  switch (arena_envelope_field_placement (field))
    {
    case ARENA_PLACEMENT_STORAGE:
      if (!use (&self->storage_users))
        return NULL;
      data = g_bytes_get_data (self->storage, NULL);
      end = end_storage_view;
      break;
    case ARENA_PLACEMENT_SPILL:
      if (!use (&self->spill->users))
        return NULL;
      data = g_bytes_get_data (self->spill->bytes, NULL);
      end = end_spill_view;
      break;
    case ARENA_PLACEMENT_EMPTY:
    case ARENA_PLACEMENT_INLINE:
    default:
      break;
    }

  return new_view (self, data + field->offset, (gsize) field->size, end);
}

GBytes *
arena_unit_box_view_storage (ArenaUnitBox *self)
{
  gconstpointer data;
  gsize size;

  if (!use (&self->storage_users))
    return NULL;

  /* Constant while there is a user. */
  if (self->storage == NULL)
    {
      atomic_fetch_sub_explicit (&self->storage_users, 1, memory_order_acq_rel);
      return NULL;
    }

  data = g_bytes_get_data (self->storage, &size);
  return new_view (self, data, size, end_storage_view);
}

GBytes *
arena_unit_box_view_spill (ArenaUnitBox *self)
{
  gconstpointer data;
  gsize size;

  if (self->spill == NULL || !use (&self->spill->users))
    return NULL;

  data = g_bytes_get_data (self->spill->bytes, &size);
  return new_view (self, data, size, end_spill_view);
}
