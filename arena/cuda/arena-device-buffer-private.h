/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-device-buffer.h"
#include "cuda/arena-device-memory-private.h"

G_BEGIN_DECLS

/* Takes @memory. */
ArenaDeviceBuffer *arena_device_buffer_new   (ArenaDeviceMemory *memory) G_GNUC_WARN_UNUSED_RESULT;
/* INVALID_STATE where it was constructed by hand, FORKED. */
gboolean           arena_device_buffer_check (ArenaDeviceBuffer *self,
                                              GError           **error);

G_END_DECLS
