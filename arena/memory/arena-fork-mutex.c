/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-fork-mutex-private.h"

#include "memory/arena-fork-private.h"

/* Users are counted before they lock and after they unlock, so a mutex without any is free, in a child as well, and the
 * first of the child to come makes it the child's. Any other count of another generation is of threads that are not
 * here. */

void
arena_fork_mutex_init (ArenaForkMutex *self)
{
  pthread_mutex_init (&self->mutex, NULL);
  atomic_init (&self->users, (guint64) arena_fork_generation () << 32);
}

void
arena_fork_mutex_clear (ArenaForkMutex *self)
{
  pthread_mutex_destroy (&self->mutex);
}

gboolean
arena_fork_mutex_lock (ArenaForkMutex *self)
{
  const guint64 generation = arena_fork_generation ();
  guint64 users = atomic_load_explicit (&self->users, memory_order_relaxed);
  guint64 more;

  do
    {
      guint n = (guint) (users & G_MAXUINT32);

      if (n > 0 && users >> 32 != generation)
        return FALSE;
      more = (generation << 32) + n + 1;
    }
  while (!atomic_compare_exchange_weak_explicit (&self->users, &users, more, memory_order_acquire, memory_order_relaxed));

  pthread_mutex_lock (&self->mutex);
  return TRUE;
}

void
arena_fork_mutex_unlock (ArenaForkMutex *self)
{
  pthread_mutex_unlock (&self->mutex);
  atomic_fetch_sub_explicit (&self->users, 1, memory_order_release);
}
