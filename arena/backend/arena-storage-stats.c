/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-storage-private.h"

#include "backend/arena-stats-private.h"
#include "memory/arena-fork-private.h"
#include "memory/arena-pin-table-private.h"

/* What an arena has done and what it occupies. Numbers are read while both sides work, so each pair of which one is
 * subtracted from the other is read in the order that can't make the difference negative. */

guint64
arena_storage_count_held (ArenaStorage *self)
{
  const ArenaChannel *channel = self->channel;
  guint64 units = atomic_load_explicit (&self->units, memory_order_seq_cst);
  guint64 ended;

  /* After what was received, or units that pass in between would seem to be held. */
  ended = atomic_load_explicit (&self->given_back, memory_order_relaxed);
  if (channel->geometry.kind == ARENA_KIND_POOL)
    ended += atomic_load_explicit (&channel->cc->released, memory_order_seq_cst) - channel->geometry.first_cursor;
  return units > ended ? units - ended : 0;
}

static void
read_producer (ArenaStats              *stats,
               const ArenaProducerPage *cp)
{
  stats->producer_waits = atomic_load_explicit (&cp->slot_waits, memory_order_relaxed) +
                          atomic_load_explicit (&cp->storage_waits, memory_order_relaxed);
  stats->producer_wait_time = (gint64) (atomic_load_explicit (&cp->slot_wait_us, memory_order_relaxed) +
                                        atomic_load_explicit (&cp->storage_wait_us, memory_order_relaxed));
  stats->spilled_bytes = atomic_load_explicit (&cp->spilled, memory_order_relaxed);
}

/* In segments, or in bytes of a ring. What the producer says is clamped: it is only a number to show. */
static guint64
count_in_use (const ArenaChannel *channel)
{
  const ArenaGeometry *geometry = &channel->geometry;
  const ArenaProducerPage *cp = channel->cp;
  guint64 limit = geometry->kind == ARENA_KIND_RING ? geometry->data_size : geometry->n_segments;
  guint64 released, committed;

  if (cp == NULL)
    return 0;

  /* In this order, or what is released in between would seem never to have been committed. */
  released = atomic_load_explicit (&channel->cc->released, memory_order_seq_cst) - geometry->first_cursor;
  committed = atomic_load_explicit (&cp->committed, memory_order_relaxed);
  return committed > released ? MIN (committed - released, limit) : 0;
}

void
arena_storage_note_use (ArenaStorage *self,
                        guint64       in_use)
{
  guint64 peak = atomic_load_explicit (&self->peak, memory_order_relaxed);

  while (in_use > peak && !atomic_compare_exchange_weak_explicit (&self->peak, &peak, in_use,
                                                                  memory_order_relaxed, memory_order_relaxed))
    ;
}

/* Locked, in the process whose arena it is. */
static void
read_stats (ArenaStorage *self,
            ArenaStats   *stats)
{
  const ArenaGeometry *geometry = &self->channel->geometry;
  const ArenaProducerPage *cp = self->channel->cp;
  guint64 piece = geometry->kind == ARENA_KIND_RING ? 1 : geometry->stride;
  guint64 in_use = count_in_use (self->channel);

  stats->units = atomic_load_explicit (&self->units, memory_order_seq_cst);
  stats->bytes = atomic_load_explicit (&self->bytes, memory_order_relaxed);
  stats->held_units = arena_storage_count_held (self);
  stats->occupancy = in_use * piece;
  arena_storage_note_use (self, in_use);
  stats->peak_occupancy = atomic_load_explicit (&self->peak, memory_order_relaxed) * piece;
  stats->consumer_waits = atomic_load_explicit (&self->consumer_waits, memory_order_relaxed);
  stats->consumer_wait_time = atomic_load_explicit (&self->consumer_wait_us, memory_order_relaxed);
  if (cp != NULL)
    read_producer (stats, cp);

  if ((atomic_load_explicit (&self->channel->local_state, memory_order_seq_cst) & ARENA_STATE_CLOSED) == 0)
    stats->reserved_bytes = geometry->data_size;
  if (self->data != NULL)
    stats->resident_bytes = arena_mapping_get_resident (self->data);
  if (self->pinned != NULL)
    stats->pinned_bytes = arena_pin_table_measure (arena_mapping_get_data (self->pinned),
                                                   arena_mapping_get_size (self->pinned), NULL);
  if (self->outputs != NULL)
    stats->output_bytes = self->outputs->get_bytes (self->outputs);
  if (self->outputs != NULL && self->pin_memory)
    stats->pinned_bytes = stats->output_bytes;
}

ArenaStats *
arena_storage_dup_stats (ArenaStorage *self)
{
  ArenaStats *stats = arena_stats_new ();

  if (!arena_storage_lock (self, NULL))
    return stats;

  if (arena_fork_is_current (self->channel->fork_generation))
    read_stats (self, stats);
  arena_fork_mutex_unlock (&self->mutex);
  return stats;
}
