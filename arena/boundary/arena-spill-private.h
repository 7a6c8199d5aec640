/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sync/arena-channel-private.h"

G_BEGIN_DECLS

/* What of a unit travels neither in the arena nor in its slot. Each end counts its messages. */

/* Producer: sends @fd for @unit, which has to be sealed before the unit is published. NO_SPACE, with numbers, where the
 * system has no room for one more descriptor on its way; PEER_GONE; WOULD_BLOCK. */
gboolean arena_spill_send    (ArenaChannel     *channel,
                              guint64          *number,
                              guint64           unit,
                              int               fd,
                              guint64           fields_size,
                              GError          **error);

/* Consumer: what has come for @slot, which announces it. @fields gets the bytes of fields (NULL: none), owning their
 * memory; @envelope, where it is longer than the slot's area, a g_malloc'ed copy. PROTOCOL where nothing came, or something
 * else; NO_SPACE, which loses the unit. */
gboolean arena_spill_receive (ArenaChannel     *channel,
                              guint64          *number,
                              const ArenaSlot  *slot,
                              GBytes          **fields,
                              guint8          **envelope,
                              GError          **error);
/* The same for a unit that is thrown away. */
gboolean arena_spill_discard (ArenaChannel     *channel,
                              guint64          *number,
                              const ArenaSlot  *slot,
                              GError          **error);

G_END_DECLS
