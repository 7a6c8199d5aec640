/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "backend/arena-backend.h"
#include "backend/arena-stats.h"
#include "base/arena-enums.h"

G_BEGIN_DECLS

#define ARENA_TYPE_POOL (arena_pool_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaPool, arena_pool, ARENA, POOL, GObject)

ARENA_AVAILABLE_IN_0_1
ArenaPool    *arena_pool_new              (gsize       segment_size,
                                           guint       count,
                                           GError    **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
gsize         arena_pool_get_segment_size (ArenaPool  *self);
ARENA_AVAILABLE_IN_0_1
guint         arena_pool_get_count        (ArenaPool  *self);
ARENA_AVAILABLE_IN_0_1
ArenaReuse    arena_pool_get_reuse        (ArenaPool  *self);
ARENA_AVAILABLE_IN_0_1
const char   *arena_pool_get_label        (ArenaPool  *self);
ARENA_AVAILABLE_IN_0_1
gboolean      arena_pool_get_read_only    (ArenaPool  *self);
ARENA_AVAILABLE_IN_0_1
ArenaOversize arena_pool_get_oversize     (ArenaPool  *self);
ARENA_AVAILABLE_IN_0_1
gboolean      arena_pool_get_pin_memory   (ArenaPool  *self);

ARENA_AVAILABLE_IN_0_1
ArenaStats   *arena_pool_dup_stats        (ArenaPool  *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
