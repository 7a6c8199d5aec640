/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Every sum and product of sizes goes through here: TRUE and a result, or FALSE where it would overflow. */
#define arena_checked_add(a, b, result) (!__builtin_add_overflow ((a), (b), (result)))
#define arena_checked_mul(a, b, result) (!__builtin_mul_overflow ((a), (b), (result)))

/* @alignment is a power of two. */
static inline gboolean
arena_checked_round_up (guint64  value,
                        guint64  alignment,
                        guint64 *result)
{
  guint64 sum;

  if (!arena_checked_add (value, alignment - 1, &sum))
    return FALSE;

  *result = sum & ~(alignment - 1);
  return TRUE;
}

/* Whether [offset, offset + length) lies in [0, size), without computing the sum. */
static inline gboolean
arena_range_fits (guint64 offset,
                  guint64 length,
                  guint64 size)
{
  return offset <= size && length <= size - offset;
}

G_END_DECLS
