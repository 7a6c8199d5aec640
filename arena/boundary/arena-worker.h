/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "boundary/arena-consumer.h"

G_BEGIN_DECLS

#define ARENA_TYPE_WORKER (arena_worker_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaWorker, arena_worker, ARENA, WORKER, ArenaConsumer)

ARENA_AVAILABLE_IN_0_1
ArenaWorker         *arena_worker_new             (ArenaBackend        *backend,
                                                   const char * const  *argv,
                                                   guint                buffer_size,
                                                   GError             **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void                 arena_worker_new_async       (ArenaBackend        *backend,
                                                   const char * const  *argv,
                                                   guint                buffer_size,
                                                   int                  io_priority,
                                                   GCancellable        *cancellable,
                                                   GAsyncReadyCallback  callback,
                                                   gpointer             user_data);
ARENA_AVAILABLE_IN_0_1
ArenaWorker         *arena_worker_new_finish      (GAsyncResult        *result,
                                                   GError             **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
const char * const  *arena_worker_get_argv        (ArenaWorker         *self);
ARENA_AVAILABLE_IN_0_1
const char * const  *arena_worker_get_environ     (ArenaWorker         *self);
ARENA_AVAILABLE_IN_0_1
const char          *arena_worker_get_cwd         (ArenaWorker         *self);
ARENA_AVAILABLE_IN_0_1
gint64               arena_worker_get_pid         (ArenaWorker         *self);
ARENA_AVAILABLE_IN_0_1
int                  arena_worker_get_exit_status (ArenaWorker         *self);

G_END_DECLS
