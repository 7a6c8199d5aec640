/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-pool-private.h"
#include "backend/arena-ring-private.h"

G_BEGIN_DECLS

/* Both ends of an arena in one process, for one thread or two, and units of one patterned field through them.
 * Everything asserts by itself. */
typedef struct
{
  ArenaBackend *backend; /* NULL after open_at() */
  ArenaStorage *storage;
  ArenaReader  *reader;
  ArenaWriter  *writer;
} ArenaEnds;

typedef struct
{
  guint64 span;
  guint64 offset;
  gsize   size;
  guint64 seed;
} ArenaSent;

void     arena_ends_open_pool (ArenaEnds       *self,
                               gsize            segment_size,
                               guint            count);
/* The same with ARENA_REUSE_ANY. */
void     arena_ends_open_any  (ArenaEnds       *self,
                               gsize            segment_size,
                               guint            count);
void     arena_ends_open_ring (ArenaEnds       *self,
                               gsize            capacity);
/* Cursors that start anywhere; @count 0 is a ring. */
void     arena_ends_open_at   (ArenaEnds       *self,
                               gsize            size,
                               guint            count,
                               guint64          first_cursor,
                               guint64          first_sequence);
/* Calls @check with the open ends of a pool, and again with those of a ring that has @size bytes; it clears them. */
void     arena_ends_check_both (gsize           size,
                                guint           count,
                                void          (*check) (ArenaEnds *ends));
/* Drops what is left; the fields may have been dropped before. */
void     arena_ends_clear     (ArenaEnds       *self);

/* Begins with @timeout and @size, writes, commits. try_send() returns FALSE with the begin's error. */
gboolean arena_ends_try_send  (ArenaEnds       *self,
                               gsize            size,
                               guint64          seed,
                               gint64           timeout,
                               ArenaSent       *sent,
                               GError         **error);
/* The same with 2 s, and it must work. */
ArenaSent arena_ends_send     (ArenaEnds       *self,
                               gsize            size,
                               guint64          seed);
/* Reads, checks and ends. */
GBytes  *arena_ends_take      (ArenaEnds       *self,
                               const ArenaSent *sent) G_GNUC_WARN_UNUSED_RESULT;
/* take() and drop. */
void     arena_ends_pass      (ArenaEnds       *self,
                               const ArenaSent *sent);
void     arena_ends_check     (GBytes          *bytes,
                               const ArenaSent *sent);
/* Fills the arena until a try would block; returns how many units of @size went in. */
guint    arena_ends_fill      (ArenaEnds       *self,
                               gsize            size);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ArenaEnds, arena_ends_clear)

G_END_DECLS
