/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Copies @size bytes into an arena or out of it. @footprint is how many bytes rotate through the caches between
 * two visits of the same line (slots in rotation times unit size); once that leaves the last-level cache,
 * non-temporal stores are about twice as fast as memcpy, inside it they are slower. They are ordered before
 * return, so a following release store publishes them. */
void arena_copy (void       *destination,
                 const void *source,
                 gsize       size,
                 guint64     footprint);

G_END_DECLS
