/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ARENA_COPY_PLAIN,  /* memcpy() */
  ARENA_COPY_STREAM, /* non-temporal stores, past the caches */
} ArenaCopyKind;

/* Copies @size bytes into an arena or out of it. Non-temporal stores are ordered before return, so a following release
 * store publishes them; below a page they never pay, and memcpy() is used. */
void          arena_copy              (void          *destination,
                                       const void    *source,
                                       gsize          size,
                                       ArenaCopyKind  kind);

/* The likelier one of two guesses, before anything was measured. @footprint is how many bytes rotate through the caches
 * between two visits of the same line (slots in rotation times unit size): once that leaves the last-level cache,
 * non-temporal stores are about twice as fast, inside it they are slower. */
ArenaCopyKind arena_copy_guess_kind   (guint64        footprint);

G_END_DECLS
