/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-unit.h"

G_BEGIN_DECLS

/* @envelope (g_malloc'ed, taken over in any case) is the private copy of a unit's envelope; @storage (taken over,
 * nullable) the unit's bytes in the arena under their lease, or a copy; @spill (likewise) those outside. PROTOCOL where
 * the envelope doesn't describe exactly that. */
ArenaUnit *arena_unit_new (guint64   sequence,
                           guint64   epoch,
                           guint8   *envelope,
                           gsize     envelope_size,
                           GBytes   *storage,
                           GBytes   *spill,
                           GError  **error) G_GNUC_WARN_UNUSED_RESULT;
/* Of one that lies where this process can't write, before anyone else sees it. */
void       arena_unit_set_read_only (ArenaUnit *self);

G_END_DECLS
