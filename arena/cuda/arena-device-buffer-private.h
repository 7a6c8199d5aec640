/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-device-buffer.h"
#include "cuda/arena-device-memory-private.h"

G_BEGIN_DECLS

/* Takes @memory. */
ArenaDeviceBuffer *arena_device_buffer_new (ArenaDeviceMemory *memory) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
