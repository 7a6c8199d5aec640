/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "unit/arena-dtype.h"

G_BEGIN_DECLS

#define ARENA_TYPE_FIELD (arena_field_get_type ())

ARENA_AVAILABLE_IN_0_1
GType           arena_field_get_type         (void) G_GNUC_CONST;
ARENA_AVAILABLE_IN_0_1
ArenaField     *arena_field_copy             (const ArenaField *self) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
void            arena_field_free             (ArenaField       *self);

ARENA_AVAILABLE_IN_0_1
const char     *arena_field_get_name         (const ArenaField *self);
ARENA_AVAILABLE_IN_0_1
ArenaDType      arena_field_get_dtype        (const ArenaField *self);
ARENA_AVAILABLE_IN_0_1
gsize           arena_field_get_size         (const ArenaField *self);
ARENA_AVAILABLE_IN_0_1
const guint64  *arena_field_get_shape        (const ArenaField *self,
                                              gsize            *n_dims);
ARENA_AVAILABLE_IN_0_1
const gint64   *arena_field_get_byte_strides (const ArenaField *self,
                                              gsize            *n_dims);
ARENA_AVAILABLE_IN_0_1
gint64          arena_field_get_offset       (const ArenaField *self);
ARENA_AVAILABLE_IN_0_1
gboolean        arena_field_get_is_pinned    (const ArenaField *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaField, arena_field_free)

G_END_DECLS
