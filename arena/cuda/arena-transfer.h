/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "cuda/arena-cuda-context.h"
#include "cuda/arena-device-buffer.h"

G_BEGIN_DECLS

#define ARENA_TYPE_TRANSFER (arena_transfer_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaTransfer, arena_transfer, ARENA, TRANSFER, GObject)

ARENA_AVAILABLE_IN_0_1
ArenaTransfer *arena_transfer_new        (ArenaCudaContext     *context) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
gint           arena_transfer_add        (ArenaTransfer        *self,
                                          GBytes               *bytes,
                                          GError              **error);

ARENA_AVAILABLE_IN_0_1
GPtrArray     *arena_transfer_run        (ArenaTransfer        *self,
                                          GCancellable         *cancellable,
                                          GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void           arena_transfer_run_async  (ArenaTransfer        *self,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
ARENA_AVAILABLE_IN_0_1
GPtrArray     *arena_transfer_run_finish (ArenaTransfer        *self,
                                          GAsyncResult         *result,
                                          GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
GPtrArray     *arena_transfer_enqueue    (ArenaTransfer        *self,
                                          GError              **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
