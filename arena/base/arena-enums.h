/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_REUSE (arena_reuse_get_type ())

/**
 * ArenaReuse:
 * @ARENA_REUSE_IN_ORDER: in turn: the producer waits for the next segment even when a later one is free, so a consumer
 *   that keeps one unit stops it after a lap
 * @ARENA_REUSE_ANY: whichever is free: kept units only make the pool smaller
 *
 * Says which segment of a pool the producer takes next.
 *
 * This enumeration may grow.
 *
 * Since: 0.1
 */
typedef enum
{
  ARENA_REUSE_IN_ORDER,
  ARENA_REUSE_ANY,
} ArenaReuse;

ARENA_AVAILABLE_IN_0_1
GType arena_reuse_get_type (void) G_GNUC_CONST;

#define ARENA_TYPE_OVERSIZE (arena_oversize_get_type ())

/**
 * ArenaOversize:
 * @ARENA_OVERSIZE_ERROR: it is refused, and the unit stays as it was
 * @ARENA_OVERSIZE_SPILL: it travels in memory of its own, made for this one unit
 *
 * Says what becomes of a field that its unit's place in the arena can't hold.
 *
 * This enumeration may grow.
 *
 * Since: 0.1
 */
typedef enum
{
  ARENA_OVERSIZE_ERROR,
  ARENA_OVERSIZE_SPILL,
} ArenaOversize;

ARENA_AVAILABLE_IN_0_1
GType arena_oversize_get_type (void) G_GNUC_CONST;

G_END_DECLS
