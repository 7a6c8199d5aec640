/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "memory/arena-mapping-private.h"
#include "memory/arena-outputs-private.h"

G_BEGIN_DECLS

/* Page-locking for a device. This folder and those that build on it know no device: these calls are all they know, and
 * cuda/ defines them. Errors are those of the device.
 *
 * Only the consumer's side calls them, and only where somebody asked for pinned memory. Any thread. */

/* Whether arena_pin_mapping() of such a mapping could work at all. */
gboolean      arena_pin_check       (gboolean         writable,
                                     gsize            size,
                                     gsize            piece,
                                     GError         **error);
/* After arena_pin_check(). Brings all of @mapping into memory and locks it there, each @piece by itself: all of them or none. From here on the last
 * reference doesn't unmap: what can't be unlocked is never unmapped. Again it does nothing. */
gboolean      arena_pin_mapping     (ArenaMapping    *mapping,
                                     gsize            piece,
                                     GError         **error);
/* Unlocks; TRUE where nothing is locked (any more). What failed can be tried again. */
gboolean      arena_pin_release     (ArenaMapping    *mapping,
                                     GError         **error);
/* Outputs of a ring in locked memory; up to @keep_bytes wait there for reuse. */
ArenaOutputs *arena_pin_outputs_new (gsize            keep_bytes,
                                     GError         **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
