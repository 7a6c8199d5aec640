/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Size classes of page-locked buffers: powers of two up to 1 MiB, then eight to a doubling, so that an eighth is wasted at
 * most, and above 256 MiB whole pages. */

#define ARENA_PINNED_PAGE      4096
#define ARENA_PINNED_N_CLASSES 74

/* What a buffer for @size bytes has and which class it is in; all of the exact ones share the last. FALSE for an absurd
 * size. */
gboolean arena_pinned_class_find (gsize   size,
                                  guint  *index,
                                  gsize  *capacity);

G_END_DECLS
