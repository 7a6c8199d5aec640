/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-shape-private.h"

#include "base/arena-checked-private.h"

/* Arithmetic over shapes that a script or a peer made up: no product and no sum is believed. Both ends of a boundary
 * ask here, so what a builder accepts is what a unit accepts. */

gboolean
arena_shape_get_size (const guint64 *shape,
                      gsize          n_dims,
                      guint          item_size,
                      guint64       *size)
{
  gboolean empty = FALSE;
  guint64 bytes = item_size;

  for (gsize i = 0; i < n_dims; i++)
    {
      empty |= shape[i] == 0;
      if (!arena_checked_mul (bytes, MAX (shape[i], 1), &bytes))
        return FALSE;
    }

  *size = empty ? 0 : bytes;
  return bytes <= G_MAXINT64;
}

gboolean
arena_shape_get_extent (const guint64 *shape,
                        const gint64  *byte_strides,
                        gsize          n_dims,
                        guint          item_size,
                        guint64       *extent)
{
  guint64 end = item_size;

  for (gsize i = 0; i < n_dims; i++)
    if (shape[i] == 0)
      {
        *extent = 0;
        return TRUE;
      }

  for (gsize i = 0; i < n_dims; i++)
    {
      guint64 distance;

      if (shape[i] == 1)
        continue;
      if (byte_strides[i] < 0 ||
          !arena_checked_mul (shape[i] - 1, (guint64) byte_strides[i], &distance) ||
          !arena_checked_add (end, distance, &end))
        return FALSE;
    }

  *extent = end;
  return TRUE;
}

gboolean
arena_shape_is_c_order (const guint64 *shape,
                        const gint64  *byte_strides,
                        gsize          n_dims,
                        guint          item_size)
{
  guint64 expected = item_size;

  for (gsize i = n_dims; i-- > 0;)
    {
      if (shape[i] == 1)
        continue;
      if (byte_strides[i] < 0 || (guint64) byte_strides[i] != expected)
        return FALSE;
      if (!arena_checked_mul (expected, shape[i], &expected))
        return FALSE;
    }

  return TRUE;
}
