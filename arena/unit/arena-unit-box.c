/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-box-private.h"

/* Views outlive the unit, so what they need lies here. Two counts, both atomic, no lock:
 *
 *   n_refs         keeps the box and the envelope: one for the unit, one for each view.
 *   storage_users  keeps the bytes in the arena: one for each view of them, and the bit OWNED until the unit is
 *                  released. Nothing is added once OWNED is gone, so storage is dropped once, by whoever takes the
 *                  last away.
 *
 * The view of an inline field counts in n_refs only: whoever keeps a label doesn't keep the segment of its image.
 * Nothing else changes after creation: the envelope is private and was checked whole, so it is read without a check. */

#define OWNED (1u << 31)

ArenaUnitBox *
arena_unit_box_new (guint8   *envelope,
                    gsize     envelope_size,
                    GBytes   *storage,
                    GError  **error)
{
  gsize storage_size = storage != NULL ? g_bytes_get_size (storage) : 0;
  ArenaUnitBox *self = g_new (ArenaUnitBox, 1);

  atomic_init (&self->n_refs, 1);
  atomic_init (&self->storage_users, OWNED);
  self->data = envelope;
  self->storage = storage;

  if (!arena_envelope_decode (&self->envelope, envelope, envelope_size, storage_size, error))
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

  g_free (self->data);
  g_free (self);
}

static void
drop_storage (ArenaUnitBox *self)
{
  g_clear_pointer (&self->storage, g_bytes_unref);
}

void
arena_unit_box_release (ArenaUnitBox *self)
{
  /* OWNED alone: the first release, and no view of the storage. */
  if (atomic_fetch_and_explicit (&self->storage_users, ~OWNED, memory_order_acq_rel) == OWNED)
    drop_storage (self);
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
use_storage (ArenaUnitBox *self)
{
  guint users = atomic_load_explicit (&self->storage_users, memory_order_relaxed);

  while ((users & OWNED) != 0)
    if (atomic_compare_exchange_weak_explicit (&self->storage_users,
                                               &users,
                                               users + 1,
                                               memory_order_relaxed,
                                               memory_order_relaxed))
      return TRUE;

  return FALSE;
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

  if (atomic_fetch_sub_explicit (&self->storage_users, 1, memory_order_acq_rel) == 1)
    drop_storage (self);
  arena_unit_box_unref (self);
}

GBytes *
arena_unit_box_view (ArenaUnitBox             *self,
                     const ArenaEnvelopeField *field)
{
  gboolean stored = arena_envelope_field_placement (field) == ARENA_PLACEMENT_STORAGE;
  const guint8 *data = self->data;

  if (stored)
    {
      if (!use_storage (self))
        return NULL;
      data = g_bytes_get_data (self->storage, NULL);
    }

  /* Never g_bytes_new_static(), not even for an empty field: its pointer stays non-NULL, and it is counted. */
  atomic_fetch_add_explicit (&self->n_refs, 1, memory_order_relaxed);
  return g_bytes_new_with_free_func (data + field->offset,
                                     (gsize) field->size,
                                     stored ? end_storage_view : end_inline_view,
                                     self);
}

GBytes *
arena_unit_box_view_storage (ArenaUnitBox *self)
{
  gconstpointer data;
  gsize size;

  if (!use_storage (self))
    return NULL;

  /* Constant while there is a user. */
  if (self->storage == NULL)
    {
      atomic_fetch_sub_explicit (&self->storage_users, 1, memory_order_acq_rel);
      return NULL;
    }

  data = g_bytes_get_data (self->storage, &size);
  atomic_fetch_add_explicit (&self->n_refs, 1, memory_order_relaxed);
  return g_bytes_new_with_free_func (data, size, end_storage_view, self);
}
