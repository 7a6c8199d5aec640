/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

typedef struct _ArenaPinnedStats ArenaPinnedStats;

#define ARENA_TYPE_PINNED_STATS (arena_pinned_stats_get_type ())

ARENA_AVAILABLE_IN_0_1
GType             arena_pinned_stats_get_type            (void) G_GNUC_CONST;

ARENA_AVAILABLE_IN_0_1
ArenaPinnedStats *arena_pinned_stats_copy                (const ArenaPinnedStats *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void              arena_pinned_stats_free                (ArenaPinnedStats       *self);

ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_allocated_bytes    (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_used_bytes         (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_cached_bytes       (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_waiting_bytes      (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_n_allocations      (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_n_frees            (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_pinned_stats_get_n_reuses           (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
gint64            arena_pinned_stats_get_allocation_time    (const ArenaPinnedStats *self);
ARENA_AVAILABLE_IN_0_1
gint64            arena_pinned_stats_get_free_time          (const ArenaPinnedStats *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaPinnedStats, arena_pinned_stats_free)

G_END_DECLS
