/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "backend/arena-backend.h"
#include "backend/arena-stats.h"
#include "base/arena-enums.h"

G_BEGIN_DECLS

#define ARENA_TYPE_RING (arena_ring_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaRing, arena_ring, ARENA, RING, GObject)

ARENA_AVAILABLE_IN_0_1
ArenaRing    *arena_ring_new            (gsize       capacity,
                                         GError    **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
gsize         arena_ring_get_capacity   (ArenaRing  *self);
ARENA_AVAILABLE_IN_0_1
const char   *arena_ring_get_label      (ArenaRing  *self);
ARENA_AVAILABLE_IN_0_1
ArenaOversize arena_ring_get_oversize   (ArenaRing  *self);
ARENA_AVAILABLE_IN_0_1
gboolean      arena_ring_get_pin_memory (ArenaRing  *self);

ARENA_AVAILABLE_IN_0_1
ArenaStats   *arena_ring_dup_stats      (ArenaRing  *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
