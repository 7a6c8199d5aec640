/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-pinned-class-private.h"

#define SMALLEST_SHIFT 12 /* a page */
#define STEPS_SHIFT    20 /* from here on eight to a doubling */
#define EXACT_SHIFT    28 /* from here on whole pages */
#define STEP_BITS      3

G_STATIC_ASSERT (ARENA_PINNED_PAGE == 1 << SMALLEST_SHIFT);
/* The powers of two, the steps above the last of them, and the exact ones. */
G_STATIC_ASSERT (ARENA_PINNED_N_CLASSES ==
                 STEPS_SHIFT - SMALLEST_SHIFT + 1 + ((EXACT_SHIFT - STEPS_SHIFT) << STEP_BITS) + 1);

/* The largest n with 2^n <= @size. */
static guint
floor_log2 (gsize size)
{
  return g_bit_storage (size) - 1;
}

gboolean
arena_pinned_class_find (gsize  size,
                         guint *index,
                         gsize *capacity)
{
  gsize last = size - 1, step;
  guint shift;

  if (size == 0 || size > G_MAXSSIZE)
    return FALSE;

  if (size > (gsize) 1 << EXACT_SHIFT)
    {
      *index = ARENA_PINNED_N_CLASSES - 1;
      *capacity = (size + ARENA_PINNED_PAGE - 1) & ~(gsize) (ARENA_PINNED_PAGE - 1);
      return TRUE;
    }

  if (size <= (gsize) 1 << STEPS_SHIFT)
    {
      shift = size <= ARENA_PINNED_PAGE ? SMALLEST_SHIFT : floor_log2 (last) + 1;
      *index = shift - SMALLEST_SHIFT;
      *capacity = (gsize) 1 << shift;
      return TRUE;
    }

  /* In (2^shift, 2^(shift + 1)], of which there are eight steps. */
  shift = floor_log2 (last);
  step = (last >> (shift - STEP_BITS)) - (1 << STEP_BITS);
  *index = STEPS_SHIFT - SMALLEST_SHIFT + 1 + ((shift - STEPS_SHIFT) << STEP_BITS) + (guint) step;
  *capacity = ((1 << STEP_BITS) + step + 1) << (shift - STEP_BITS);
  return TRUE;
}
