/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "unit/arena-unit-builder.h"

G_BEGIN_DECLS

#define ARENA_TYPE_PRODUCER (arena_producer_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaProducer, arena_producer, ARENA, PRODUCER, GObject)

ARENA_AVAILABLE_IN_0_1
ArenaProducer    *arena_producer_new_from_fd           (int                   fd,
                                                        GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
ArenaProducer    *arena_producer_new_from_environment  (GError              **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
gboolean          arena_producer_wait_iteration        (ArenaProducer        *self,
                                                        gint64                timeout,
                                                        GCancellable         *cancellable,
                                                        guint64              *epoch,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
void              arena_producer_wait_iteration_async  (ArenaProducer        *self,
                                                        gint64                timeout,
                                                        GCancellable         *cancellable,
                                                        GAsyncReadyCallback   callback,
                                                        gpointer              user_data);
ARENA_AVAILABLE_IN_0_1
gboolean          arena_producer_wait_iteration_finish (ArenaProducer        *self,
                                                        GAsyncResult         *result,
                                                        guint64              *epoch,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
ArenaUnitBuilder *arena_producer_begin_unit            (ArenaProducer        *self,
                                                        gsize                 expected_size,
                                                        gint64                timeout,
                                                        GCancellable         *cancellable,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
void              arena_producer_begin_unit_async      (ArenaProducer        *self,
                                                        gsize                 expected_size,
                                                        gint64                timeout,
                                                        GCancellable         *cancellable,
                                                        GAsyncReadyCallback   callback,
                                                        gpointer              user_data);
ARENA_AVAILABLE_IN_0_1
ArenaUnitBuilder *arena_producer_begin_unit_finish     (ArenaProducer        *self,
                                                        GAsyncResult         *result,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
gboolean          arena_producer_send_packed           (ArenaProducer        *self,
                                                        gint64                timeout,
                                                        GCancellable         *cancellable,
                                                        const guint8         *record,
                                                        gsize                 n_bytes,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
gboolean          arena_producer_finish_iteration      (ArenaProducer        *self,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
gboolean          arena_producer_fail                  (ArenaProducer        *self,
                                                        const char           *type_name,
                                                        const char           *message,
                                                        const char           *traceback,
                                                        gint64                item,
                                                        GError              **error);
ARENA_AVAILABLE_IN_0_1
gboolean          arena_producer_fail_with_error       (ArenaProducer        *self,
                                                        const GError         *failure,
                                                        gint64                item,
                                                        GError              **error);

G_END_DECLS
