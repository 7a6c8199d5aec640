/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sync/arena-control-layout-private.h"

G_BEGIN_DECLS

/* The event index. A publisher stores its cursor and then loads the sleeper's `want`; a sleeper stores `want` and then
 * loads the cursor. All four are seq_cst operations: with anything weaker each can miss the other's store and the
 * sleeper is never woken. Stand-alone fences would cost the same and can't be seen by ThreadSanitizer. */

#define ARENA_CURSOR_MAX (G_GUINT64_CONSTANT (1) << 63)

/* Whether going from @old_value to @new_value crosses @want: exactly one write per sleep. */
static inline gboolean
arena_cursor_crosses (guint64 want,
                      guint64 old_value,
                      guint64 new_value)
{
  return old_value < want && want <= new_value;
}

/* Stores @new_value; TRUE if the sleeper behind @want must be woken. */
static inline gboolean
arena_cursor_publish (ArenaWord       *cursor,
                      const ArenaWord *want,
                      guint64          old_value,
                      guint64          new_value)
{
  atomic_store_explicit (cursor, new_value, memory_order_seq_cst);
  return arena_cursor_crosses (atomic_load_explicit (want, memory_order_seq_cst), old_value, new_value);
}

/* The same for a count that several threads advance. */
static inline gboolean
arena_cursor_add (ArenaWord       *cursor,
                  const ArenaWord *want,
                  guint64          amount)
{
  guint64 old_value = atomic_fetch_add_explicit (cursor, amount, memory_order_seq_cst);

  return arena_cursor_crosses (atomic_load_explicit (want, memory_order_seq_cst), old_value, old_value + amount);
}

static inline void
arena_cursor_arm (ArenaWord *want,
                  guint64    value)
{
  atomic_store_explicit (want, value, memory_order_seq_cst);
}

/* Reads a peer's cursor; FALSE where it went back or beyond @limit: the peer is broken (PROTOCOL). */
static inline gboolean
arena_cursor_read (const ArenaWord *cursor,
                   guint64          last,
                   guint64          limit,
                   guint64         *value)
{
  *value = atomic_load_explicit (cursor, memory_order_seq_cst);
  return *value >= last && *value <= limit;
}

G_END_DECLS
