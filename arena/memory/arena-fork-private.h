/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* Which process an endpoint belongs to, without a getpid() per call: one private page that the kernel wipes in a
 * forked child (MADV_WIPEONFORK) holds this process's generation, > 0. The generation counter itself is ordinary
 * memory, so a child that opens an endpoint of its own takes a number that no ancestor has used. */
extern _Atomic guint *arena_fork_word; /* NULL until the first arena_fork_generation () */

/* The calling process's generation, allocated at first use in each process. Thread-safe, never fails
 * (aborts only where not even one page can be had). */
guint arena_fork_generation (void);

/* FALSE in a forked child of the process in which @generation was taken. One load; safe in any finalizer. */
static inline gboolean
arena_fork_is_current (guint generation)
{
  return atomic_load_explicit (arena_fork_word, memory_order_relaxed) == generation;
}

G_END_DECLS
