/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "memory/arena-outputs-private.h"

G_BEGIN_DECLS

/* Output buffers of a ring. First touch of fresh memory costs several times the copy into it, so buffers that a
 * consumer dropped are used again. take() is for one thread; a buffer comes back when the last reference on its GBytes
 * is dropped, on any thread, without a lock. What waits for reuse is bounded by @keep_bytes. Lives until the last
 * buffer is dropped. */
typedef struct _ArenaRecycler ArenaRecycler;

ArenaRecycler *arena_recycler_new        (gsize          keep_bytes);
void           arena_recycler_unref      (ArenaRecycler *self);
/* A 64-byte aligned buffer of at least @size bytes, content undefined; becomes a GBytes through finish(). NULL where
 * memory is short. */
gpointer       arena_recycler_take       (ArenaRecycler *self,
                                          gsize          size);
GBytes        *arena_recycler_finish     (ArenaRecycler *self,
                                          gpointer       buffer,
                                          gsize          size) G_GNUC_WARN_UNUSED_RESULT;
/* Bytes in buffers, kept by consumers or waiting. */
gsize          arena_recycler_get_bytes  (ArenaRecycler *self);

/* A new recycler as a ring's reader sees it; its take() says NO_SPACE. */
ArenaOutputs  *arena_recycler_new_outputs (gsize         keep_bytes) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
