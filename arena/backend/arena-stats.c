/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-stats-private.h"

/* A plain record, filled once and constant from then on: any thread may read it. */

/**
 * ArenaStats:
 *
 * A snapshot of what an arena has done and what it occupies.
 *
 * Taking one locks nothing that units pass through, and works from any thread at any time, also after the arena was
 * closed. Numbers of the other side are as it left them; two numbers of one snapshot may be from slightly different
 * moments.
 *
 * Bytes that are *reserved* belong to the arena whether they are used or not; those of them that have been touched are
 * *resident*.
 *
 * ```c
 * g_autoptr (ArenaStats) stats = arena_pool_dup_stats (pool);
 * g_print ("%" G_GUINT64_FORMAT " units held\n", arena_stats_get_held_units (stats));
 * ```
 *
 * Since: 0.1
 */

G_DEFINE_BOXED_TYPE (ArenaStats, arena_stats, arena_stats_copy, arena_stats_free)

ArenaStats *
arena_stats_new (void)
{
  return g_new0 (ArenaStats, 1);
}

/**
 * arena_stats_copy:
 * @self: statistics
 *
 * Copies statistics.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
ArenaStats *
arena_stats_copy (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_memdup2 (self, sizeof *self);
}

/**
 * arena_stats_free:
 * @self: (transfer full): statistics
 *
 * Frees statistics.
 *
 * Since: 0.1
 */
void
arena_stats_free (ArenaStats *self)
{
  g_free (self);
}

/**
 * arena_stats_get_units:
 * @self: statistics
 *
 * Gets how many units the consumer has received.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_units (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->units;
}

/**
 * arena_stats_get_bytes:
 * @self: statistics
 *
 * Gets how many bytes of units the consumer has received.
 *
 * They are counted as they were stored, without what rounding adds.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_bytes (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->bytes;
}

/**
 * arena_stats_get_occupancy:
 * @self: statistics
 *
 * Gets how many bytes of the arena are in use now.
 *
 * These are the segments, or the bytes of a ring, of all units that are queued or held. A pool counts whole segments.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_occupancy (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->occupancy;
}

/**
 * arena_stats_get_peak_occupancy:
 * @self: statistics
 *
 * Gets the most bytes of the arena that have been in use.
 *
 * Looked at whenever a unit is received and when statistics are taken.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_peak_occupancy (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->peak_occupancy;
}

/**
 * arena_stats_get_held_units:
 * @self: statistics
 *
 * Gets how many units were received and are not yet given back.
 *
 * In a pool, each keeps one segment from being used again: a view of it is alive, or the unit is still open.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_held_units (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->held_units;
}

/**
 * arena_stats_get_consumer_waits:
 * @self: statistics
 *
 * Gets how often the consumer went to sleep waiting for a unit.
 *
 * Waits that spinning ended are not counted.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_consumer_waits (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->consumer_waits;
}

/**
 * arena_stats_get_consumer_wait_time:
 * @self: statistics
 *
 * Gets how long the consumer has slept waiting for units.
 *
 * In microseconds.
 *
 * Returns: the time in microseconds
 *
 * Since: 0.1
 */
gint64
arena_stats_get_consumer_wait_time (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->consumer_wait_time;
}

/**
 * arena_stats_get_producer_waits:
 * @self: statistics
 *
 * Gets how often the producer went to sleep.
 *
 * It waits for storage, or for a free place in the queue. Waits that spinning ended are not counted.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_producer_waits (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->producer_waits;
}

/**
 * arena_stats_get_producer_wait_time:
 * @self: statistics
 *
 * Gets how long the producer has slept.
 *
 * In microseconds.
 *
 * Returns: the time in microseconds
 *
 * Since: 0.1
 */
gint64
arena_stats_get_producer_wait_time (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->producer_wait_time;
}

/**
 * arena_stats_get_reserved_bytes:
 * @self: statistics
 *
 * Gets how many bytes of shared memory the arena has reserved.
 *
 * 0 once it is closed, though views may still keep them.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_reserved_bytes (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->reserved_bytes;
}

/**
 * arena_stats_get_resident_bytes:
 * @self: statistics
 *
 * Gets how many of the reserved bytes are in memory.
 *
 * 0 once the arena is closed, though views may still keep them.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_resident_bytes (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->resident_bytes;
}

/**
 * arena_stats_get_pinned_bytes:
 * @self: statistics
 *
 * Gets how many bytes are pinned for a device.
 *
 * Of a pool these are all of its segments, from its consumer's start until they are unpinned, which is after close where
 * views are kept then. Of a ring they are the copies that consumers keep, and buffers that wait to be used again.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_pinned_bytes (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->pinned_bytes;
}

/**
 * arena_stats_get_output_bytes:
 * @self: statistics
 *
 * Gets how many bytes of own memory the copies of a ring occupy.
 *
 * Copies that consumers keep, and buffers that wait to be used again. The capacity of a ring does not bound them; 0
 * for a pool.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_output_bytes (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->output_bytes;
}

/**
 * arena_stats_get_spilled_bytes:
 * @self: statistics
 *
 * Gets how many bytes the producer has sent outside of the arena.
 *
 * These are the fields that did not fit, with [property@Arena.Pool:oversize] or [property@Arena.Ring:oversize], and what
 * was too long for a unit's envelope. They were never part of the reserved bytes; each unit's are freed with its last
 * view.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_stats_get_spilled_bytes (const ArenaStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->spilled_bytes;
}
