/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/arena-checked-private.h"

G_BEGIN_DECLS

#define ARENA_FIELD_ALIGNMENT 64

/* Places the fields of one unit one after the other. The layout size of a unit is the end of its last field when
 * every field starts at a multiple of its alignment (64 or more) from the unit's start, so exactly segment_size
 * bytes in one field always fit. */
typedef struct
{
  guint64 end;
} ArenaLayout;

/* Places @size bytes; FALSE (and no change) where they end beyond @limit. An @alignment of 0 means 64. */
static inline gboolean
arena_layout_place (ArenaLayout *self,
                    guint64      size,
                    guint64      alignment,
                    guint64      limit,
                    guint64     *offset)
{
  guint64 start;

  if (!arena_checked_round_up (self->end, MAX (alignment, ARENA_FIELD_ALIGNMENT), &start) ||
      !arena_range_fits (start, size, limit))
    return FALSE;

  *offset = start;
  self->end = start + size;
  return TRUE;
}

G_END_DECLS
