/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "backend/arena-backend.h"
#include "backend/arena-stats.h"
#include "boundary/arena-consumer-state.h"
#include "boundary/arena-remote-error.h"
#include "unit/arena-unit.h"

G_BEGIN_DECLS

#define ARENA_TYPE_CONSUMER (arena_consumer_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_DERIVABLE_TYPE (ArenaConsumer, arena_consumer, ARENA, CONSUMER, GObject)

struct _ArenaConsumerClass
{
  GObjectClass parent_class;
};

ARENA_AVAILABLE_IN_0_1
ArenaConsumer     *arena_consumer_new                (ArenaBackend         *backend,
                                                      guint                 buffer_size,
                                                      GError              **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
int                arena_consumer_dup_worker_fd      (ArenaConsumer        *self,
                                                      GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean           arena_consumer_watch_pidfd        (ArenaConsumer        *self,
                                                      int                   pidfd,
                                                      GError              **error);
ARENA_AVAILABLE_IN_0_1
void               arena_consumer_set_exit_status    (ArenaConsumer        *self,
                                                      int                   wait_status);

ARENA_AVAILABLE_IN_0_1
gboolean           arena_consumer_start              (ArenaConsumer        *self,
                                                      GError              **error);
ARENA_AVAILABLE_IN_0_1
ArenaUnit         *arena_consumer_next               (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void               arena_consumer_next_async         (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      GAsyncReadyCallback   callback,
                                                      gpointer              user_data);
ARENA_AVAILABLE_IN_0_1
ArenaUnit         *arena_consumer_next_finish        (ArenaConsumer        *self,
                                                      GAsyncResult         *result,
                                                      GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
guint8            *arena_consumer_next_packed        (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      gsize                *n_bytes,
                                                      GBytes              **storage,
                                                      GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean           arena_consumer_stop               (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      GError              **error);
ARENA_AVAILABLE_IN_0_1
void               arena_consumer_stop_async         (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      GAsyncReadyCallback   callback,
                                                      gpointer              user_data);
ARENA_AVAILABLE_IN_0_1
gboolean           arena_consumer_stop_finish        (ArenaConsumer        *self,
                                                      GAsyncResult         *result,
                                                      GError              **error);
ARENA_AVAILABLE_IN_0_1
gboolean           arena_consumer_close              (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      GError              **error);
ARENA_AVAILABLE_IN_0_1
void               arena_consumer_close_async        (ArenaConsumer        *self,
                                                      gint64                timeout,
                                                      GCancellable         *cancellable,
                                                      GAsyncReadyCallback   callback,
                                                      gpointer              user_data);
ARENA_AVAILABLE_IN_0_1
gboolean           arena_consumer_close_finish       (ArenaConsumer        *self,
                                                      GAsyncResult         *result,
                                                      GError              **error);

ARENA_AVAILABLE_IN_0_1
int                arena_consumer_get_fd             (ArenaConsumer        *self,
                                                      GError              **error);
ARENA_AVAILABLE_IN_0_1
GSource           *arena_consumer_create_source      (ArenaConsumer        *self,
                                                      GCancellable         *cancellable) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
ArenaRemoteError  *arena_consumer_dup_remote_error   (ArenaConsumer        *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
ArenaStats        *arena_consumer_dup_stats          (ArenaConsumer        *self) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
ArenaConsumerState arena_consumer_get_state          (ArenaConsumer        *self);
ARENA_AVAILABLE_IN_0_1
guint              arena_consumer_get_buffer_size    (ArenaConsumer        *self);
ARENA_AVAILABLE_IN_0_1
gint64             arena_consumer_get_starve_timeout (ArenaConsumer        *self);
ARENA_AVAILABLE_IN_0_1
void               arena_consumer_set_starve_timeout (ArenaConsumer        *self,
                                                      gint64                starve_timeout);
ARENA_AVAILABLE_IN_0_1
guint              arena_consumer_get_threshold      (ArenaConsumer        *self);
ARENA_AVAILABLE_IN_0_1
guint              arena_consumer_get_envelope_size  (ArenaConsumer        *self);

G_END_DECLS
