/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_CUDA_CONTEXT (arena_cuda_context_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaCudaContext, arena_cuda_context, ARENA, CUDA_CONTEXT, GObject)

ARENA_AVAILABLE_IN_0_1
gboolean          arena_cuda_context_is_supported          (void);
ARENA_AVAILABLE_IN_0_1
ArenaCudaContext *arena_cuda_context_get_default           (GError           **error);
ARENA_AVAILABLE_IN_0_1
ArenaCudaContext *arena_cuda_context_get_for_device        (int                device,
                                                            GError           **error);

ARENA_AVAILABLE_IN_0_1
int               arena_cuda_context_get_device            (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
guint             arena_cuda_context_get_runtime_version   (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
guint             arena_cuda_context_get_driver_version    (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
const char       *arena_cuda_context_get_library_path      (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
gboolean          arena_cuda_context_get_page_locks        (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_cuda_context_get_pinned_bytes      (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
guint             arena_cuda_context_get_n_registrations   (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
guint64           arena_cuda_context_get_quarantined_bytes (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
guint             arena_cuda_context_get_n_quarantined     (ArenaCudaContext  *self);

ARENA_AVAILABLE_IN_0_1
guint64           arena_cuda_context_get_consumer_stream   (ArenaCudaContext  *self);
ARENA_AVAILABLE_IN_0_1
void              arena_cuda_context_set_consumer_stream   (ArenaCudaContext  *self,
                                                            guint64            stream);

ARENA_AVAILABLE_IN_0_1
gboolean          arena_cuda_context_hold                  (ArenaCudaContext  *self,
                                                            GBytes            *bytes,
                                                            guint64            stream,
                                                            GError           **error);

ARENA_AVAILABLE_IN_0_1
GPtrArray        *arena_cuda_context_list_quarantine       (ArenaCudaContext  *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean          arena_cuda_context_retry_quarantine      (ArenaCudaContext  *self,
                                                            GError           **error);

G_END_DECLS
