/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "unit/arena-dtype.h"

G_BEGIN_DECLS

#define ARENA_TYPE_DEVICE_BUFFER (arena_device_buffer_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaDeviceBuffer, arena_device_buffer, ARENA, DEVICE_BUFFER, GObject)

ARENA_AVAILABLE_IN_0_1
int      arena_device_buffer_get_device     (ArenaDeviceBuffer  *self);
ARENA_AVAILABLE_IN_0_1
gsize    arena_device_buffer_get_size       (ArenaDeviceBuffer  *self);
ARENA_AVAILABLE_IN_0_1
guint64  arena_device_buffer_get_pointer    (ArenaDeviceBuffer  *self);

ARENA_AVAILABLE_IN_0_1
gboolean arena_device_buffer_is_ready       (ArenaDeviceBuffer  *self,
                                             GError            **error);
ARENA_AVAILABLE_IN_0_1
gboolean arena_device_buffer_synchronize    (ArenaDeviceBuffer  *self,
                                             GError            **error);
ARENA_AVAILABLE_IN_0_1
gboolean arena_device_buffer_wait_on_stream (ArenaDeviceBuffer  *self,
                                             guint64             stream,
                                             GError            **error);
ARENA_AVAILABLE_IN_0_1
gboolean arena_device_buffer_record_stream  (ArenaDeviceBuffer  *self,
                                             guint64             stream,
                                             GError            **error);
ARENA_AVAILABLE_IN_0_1
GBytes  *arena_device_buffer_download       (ArenaDeviceBuffer  *self,
                                             GError            **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
guint64  arena_device_buffer_export_dlpack  (ArenaDeviceBuffer  *self,
                                             ArenaDType          dtype,
                                             const guint64      *shape,
                                             gsize               n_dims,
                                             gboolean            versioned,
                                             GError            **error);

G_END_DECLS
