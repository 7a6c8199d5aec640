/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* memcpy() by non-temporal stores where the machine has them, ordered before return. */
void arena_copy_stream (void       *destination,
                        const void *source,
                        gsize       size);

G_END_DECLS
