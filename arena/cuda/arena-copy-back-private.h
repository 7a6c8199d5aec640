/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-device-memory-private.h"

G_BEGIN_DECLS

/* Copies to pinned memory what @memory has when it is filled and the streams that use it have done what they were given.
 * Waits. @owner keeps the memory. Inside a scope. */
GBytes *arena_copy_back (ArenaDeviceMemory  *memory,
                         ArenaCudaScope     *scope,
                         GObject            *owner,
                         GError            **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
