/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boundary/arena-worker.h"

G_BEGIN_DECLS

/* Where a worker stands among those that this process ends when it exits; a part of the worker. */
typedef struct
{
  GList    link;
  gpointer workers; /* NULL: nowhere */
} ArenaWorkerEntry;

/* arena-worker-exit.c. Any thread; @self isn't referenced. */
void arena_worker_entry_add    (ArenaWorkerEntry *entry,
                                ArenaWorker      *self);
/* Idempotent. */
void arena_worker_entry_remove (ArenaWorkerEntry *entry);

/* arena-worker.c: tells the worker to leave, and kills it where it hasn't by @deadline. Any thread. */
void arena_worker_dismiss      (ArenaWorker      *self);
void arena_worker_end          (ArenaWorker      *self,
                                gint64            deadline);

/* arena-worker-async.c */
void arena_worker_async_initable_iface_init (GAsyncInitableIface *iface);

G_END_DECLS
