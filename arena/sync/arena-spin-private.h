/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

static inline void
arena_cpu_relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ volatile ("yield" ::: "memory");
#endif
}

/* The longest spin worth its while here, in pauses; 0 where the peer can't run while this side spins (one CPU online,
 * or a cpu quota of at most one). Measured once per process. */
guint arena_spin_limit (void);

/* Whether @text, a cgroup v2 cpu.max, allows at most one CPU. Pure. */
gboolean arena_spin_quota_is_single (const char *text);

G_END_DECLS
