/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_STATS (arena_stats_get_type ())

ARENA_AVAILABLE_IN_0_1
GType       arena_stats_get_type               (void) G_GNUC_CONST;
ARENA_AVAILABLE_IN_0_1
ArenaStats *arena_stats_copy                   (const ArenaStats *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void        arena_stats_free                   (ArenaStats       *self);

ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_units              (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_bytes              (const ArenaStats *self);

ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_occupancy          (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_peak_occupancy     (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_held_units         (const ArenaStats *self);

ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_consumer_waits     (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
gint64      arena_stats_get_consumer_wait_time (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_producer_waits     (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
gint64      arena_stats_get_producer_wait_time (const ArenaStats *self);

ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_reserved_bytes     (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_resident_bytes     (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_pinned_bytes       (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_output_bytes       (const ArenaStats *self);
ARENA_AVAILABLE_IN_0_1
guint64     arena_stats_get_spilled_bytes      (const ArenaStats *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaStats, arena_stats_free)

G_END_DECLS
