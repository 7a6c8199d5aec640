/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-worker-private.h"

#include <pthread.h>
#include <stdatomic.h>

#include "memory/arena-fork-private.h"
#include "sync/arena-timing-private.h"

/* A program may return from main() with workers that nobody has dropped, and one that looks at nothing would outlive it.
 *
 * The list is the process's own. What a forked child finds of its parent's is left alone, its lock included, which a
 * thread of the parent may have held; a worker of the child begins a new list. A destructor of the library comes after
 * what the program itself does at exit, such as closing them in an orderly way; the library is never unloaded before.
 */

typedef struct _Workers Workers;

struct _Workers
{
  guint           generation; /* of the process whose they are */
  pthread_mutex_t mutex;      /* guards the list */
  GQueue          list;
  Workers        *inherited;  /* only to be found by leak checkers */
};

static _Atomic (Workers *) current;

static gboolean
are_ours (const Workers *self)
{
  return self != NULL && arena_fork_is_current (self->generation);
}

static Workers *
get_workers (void)
{
  Workers *self = atomic_load (&current);
  Workers *fresh;

  if (are_ours (self))
    return self;

  fresh = g_new0 (Workers, 1);
  fresh->generation = arena_fork_generation ();
  pthread_mutex_init (&fresh->mutex, NULL);
  fresh->inherited = self;
  if (atomic_compare_exchange_strong (&current, &self, fresh))
    return fresh;

  g_free (fresh);
  return self;
}

void
arena_worker_entry_add (ArenaWorkerEntry *entry,
                        ArenaWorker      *self)
{
  Workers *workers = get_workers ();

  entry->link.data = self;
  entry->workers = workers;
  pthread_mutex_lock (&workers->mutex);
  g_queue_push_tail_link (&workers->list, &entry->link);
  pthread_mutex_unlock (&workers->mutex);
}

void
arena_worker_entry_remove (ArenaWorkerEntry *entry)
{
  Workers *workers = g_steal_pointer (&entry->workers);

  if (!are_ours (workers))
    return;

  pthread_mutex_lock (&workers->mutex);
  g_queue_unlink (&workers->list, &entry->link);
  pthread_mutex_unlock (&workers->mutex);
}

static void __attribute__ ((destructor))
end_workers (void)
{
  Workers *workers = atomic_load (&current);
  gint64 deadline;

  if (!are_ours (workers))
    return;

  pthread_mutex_lock (&workers->mutex);
  for (GList *l = workers->list.head; l != NULL; l = l->next)
    arena_worker_dismiss (l->data);

  deadline = g_get_monotonic_time () + arena_timing.dispose_grace;
  for (GList *l = workers->list.head; l != NULL; l = l->next)
    arena_worker_end (l->data, deadline);
  pthread_mutex_unlock (&workers->mutex);
}
