/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-enums.h"

/* Nothing here believes that a number is one of an enumeration: a property's type sees to that for scripts, the hello's
 * decoder for peers. */

G_DEFINE_ENUM_TYPE (ArenaReuse,
                    arena_reuse,
                    G_DEFINE_ENUM_VALUE (ARENA_REUSE_IN_ORDER, "in-order"),
                    G_DEFINE_ENUM_VALUE (ARENA_REUSE_ANY, "any"))

G_DEFINE_ENUM_TYPE (ArenaOversize,
                    arena_oversize,
                    G_DEFINE_ENUM_VALUE (ARENA_OVERSIZE_ERROR, "error"),
                    G_DEFINE_ENUM_VALUE (ARENA_OVERSIZE_SPILL, "spill"))
