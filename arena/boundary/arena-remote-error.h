/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_REMOTE_ERROR (arena_remote_error_get_type ())

ARENA_AVAILABLE_IN_0_1
GType             arena_remote_error_get_type      (void) G_GNUC_CONST;
ARENA_AVAILABLE_IN_0_1
ArenaRemoteError *arena_remote_error_copy          (const ArenaRemoteError *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void              arena_remote_error_free          (ArenaRemoteError       *self);

ARENA_AVAILABLE_IN_0_1
const char       *arena_remote_error_get_type_name (const ArenaRemoteError *self);
ARENA_AVAILABLE_IN_0_1
const char       *arena_remote_error_get_message   (const ArenaRemoteError *self);
ARENA_AVAILABLE_IN_0_1
const char       *arena_remote_error_get_traceback (const ArenaRemoteError *self);
ARENA_AVAILABLE_IN_0_1
gint64            arena_remote_error_get_item      (const ArenaRemoteError *self);
ARENA_AVAILABLE_IN_0_1
const char       *arena_remote_error_get_domain    (const ArenaRemoteError *self);
ARENA_AVAILABLE_IN_0_1
gint              arena_remote_error_get_code      (const ArenaRemoteError *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaRemoteError, arena_remote_error_free)

G_END_DECLS
