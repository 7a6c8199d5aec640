/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

typedef struct _ArenaQuarantine ArenaQuarantine;

#define ARENA_TYPE_QUARANTINE (arena_quarantine_get_type ())

ARENA_AVAILABLE_IN_0_1
GType            arena_quarantine_get_type   (void) G_GNUC_CONST;

ARENA_AVAILABLE_IN_0_1
ArenaQuarantine *arena_quarantine_copy       (const ArenaQuarantine *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void             arena_quarantine_free       (ArenaQuarantine       *self);

ARENA_AVAILABLE_IN_0_1
const char      *arena_quarantine_get_reason (const ArenaQuarantine *self);
ARENA_AVAILABLE_IN_0_1
guint64          arena_quarantine_get_bytes  (const ArenaQuarantine *self);
ARENA_AVAILABLE_IN_0_1
gint64           arena_quarantine_get_age    (const ArenaQuarantine *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaQuarantine, arena_quarantine_free)

G_END_DECLS
