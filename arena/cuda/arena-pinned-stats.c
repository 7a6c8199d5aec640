/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-pinned-stats-private.h"

/* A plain record, filled once and constant from then on: any thread may read it. */

/**
 * ArenaPinnedStats:
 *
 * A snapshot of the pinned memory of an [class@Arena.PinnedAllocator].
 *
 * ```c
 * g_autoptr (ArenaPinnedStats) stats = arena_pinned_allocator_dup_stats (allocator);
 * g_print ("%" G_GUINT64_FORMAT " bytes pinned\n", arena_pinned_stats_get_allocated_bytes (stats));
 * ```
 *
 * Since: 0.1
 */
struct _ArenaPinnedStats
{
  ArenaPinnedFigures figures;
};

G_DEFINE_BOXED_TYPE (ArenaPinnedStats, arena_pinned_stats, arena_pinned_stats_copy, arena_pinned_stats_free)

ArenaPinnedStats *
arena_pinned_stats_new (const ArenaPinnedFigures *figures)
{
  ArenaPinnedStats *self = g_new (ArenaPinnedStats, 1);

  self->figures = *figures;
  return self;
}

/**
 * arena_pinned_stats_copy:
 * @self: statistics
 *
 * Copies statistics.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
ArenaPinnedStats *
arena_pinned_stats_copy (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_memdup2 (self, sizeof *self);
}

/**
 * arena_pinned_stats_free:
 * @self: (transfer full): statistics
 *
 * Frees statistics.
 *
 * Since: 0.1
 */
void
arena_pinned_stats_free (ArenaPinnedStats *self)
{
  g_free (self);
}

/**
 * arena_pinned_stats_get_allocated_bytes:
 * @self: statistics
 *
 * Gets how many bytes are pinned now.
 *
 * These are the used, the cached and the waiting ones.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_allocated_bytes (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.allocated_bytes;
}

/**
 * arena_pinned_stats_get_used_bytes:
 * @self: statistics
 *
 * Gets how many bytes are with those who asked for them.
 *
 * Each buffer counts with all it has, which may be up to an eighth more than was asked for; up to 1 MiB the next power of
 * two.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_used_bytes (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.used_bytes;
}

/**
 * arena_pinned_stats_get_cached_bytes:
 * @self: statistics
 *
 * Gets how many bytes are ready to be used again.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_cached_bytes (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.cached_bytes;
}

/**
 * arena_pinned_stats_get_waiting_bytes:
 * @self: statistics
 *
 * Gets how many bytes were dropped and can't be used again yet.
 *
 * A stream that was recorded is still busy, or CUDA has refused to free them.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_waiting_bytes (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.waiting_bytes;
}

/**
 * arena_pinned_stats_get_n_allocations:
 * @self: statistics
 *
 * Gets how often CUDA was asked for a buffer, and gave one.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_n_allocations (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.n_allocations;
}

/**
 * arena_pinned_stats_get_n_frees:
 * @self: statistics
 *
 * Gets how often CUDA has freed a buffer.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_n_frees (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.n_frees;
}

/**
 * arena_pinned_stats_get_n_reuses:
 * @self: statistics
 *
 * Gets how often a cached buffer was used again.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_stats_get_n_reuses (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.n_reuses;
}

/**
 * arena_pinned_stats_get_allocation_time:
 * @self: statistics
 *
 * Gets how long CUDA has taken to give buffers.
 *
 * In microseconds.
 *
 * Returns: the time in microseconds
 *
 * Since: 0.1
 */
gint64
arena_pinned_stats_get_allocation_time (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.allocation_time;
}

/**
 * arena_pinned_stats_get_free_time:
 * @self: statistics
 *
 * Gets how long CUDA has taken to free buffers.
 *
 * In microseconds.
 *
 * Returns: the time in microseconds
 *
 * Since: 0.1
 */
gint64
arena_pinned_stats_get_free_time (const ArenaPinnedStats *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->figures.free_time;
}
