/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The bytes of an array in C order: 0 where a dimension is 0. FALSE where the items, dimensions of 0 counted as 1, take
 * more than G_MAXINT64 bytes: so every C stride of an accepted shape is a gint64 too, which is what languages need. */
gboolean arena_shape_get_size   (const guint64 *shape,
                                 gsize          n_dims,
                                 guint          item_size,
                                 guint64       *size);
/* The bytes from the first item to the end of the farthest one; FALSE where an item lies before the first, or beyond
 * what 64 bits can count. */
gboolean arena_shape_get_extent (const guint64 *shape,
                                 const gint64  *byte_strides,
                                 gsize          n_dims,
                                 guint          item_size,
                                 guint64       *extent);
/* Whether the strides say no more than C order does; the stride of a dimension of 1 says nothing. */
gboolean arena_shape_is_c_order (const guint64 *shape,
                                 const gint64  *byte_strides,
                                 gsize          n_dims,
                                 guint          item_size);

G_END_DECLS
