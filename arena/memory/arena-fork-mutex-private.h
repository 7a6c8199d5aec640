/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* A mutex that goes through fork(): where a thread of the parent had it at that moment, or was waiting for it, the child
 * is refused instead of waiting for ever. What it guards may be half done then, and is the parent's. */
typedef struct
{
  pthread_mutex_t mutex; /* ThreadSanitizer can't see into a GMutex */
  _Atomic guint64 users; /* generation << 32 | how many of that process's threads have or want it */
} ArenaForkMutex;

void     arena_fork_mutex_init   (ArenaForkMutex *self);
void     arena_fork_mutex_clear  (ArenaForkMutex *self);
gboolean arena_fork_mutex_lock   (ArenaForkMutex *self) G_GNUC_WARN_UNUSED_RESULT;
void     arena_fork_mutex_unlock (ArenaForkMutex *self);

G_END_DECLS
