/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-field.h"

G_BEGIN_DECLS

/* Copies everything: a field description owns no storage. @name may be NULL; @byte_strides is NULL for C order. */
ArenaField *arena_field_new (const char    *name,
                             ArenaDType     dtype,
                             gsize          size,
                             const guint64 *shape,
                             const gint64  *byte_strides,
                             gsize          n_dims) G_GNUC_WARN_UNUSED_RESULT;
/* Of a field in the arena, before anyone else sees it. */
void        arena_field_set_offset    (ArenaField *self,
                                       guint64     offset);
void        arena_field_set_is_pinned (ArenaField *self,
                                       gboolean    is_pinned);

G_END_DECLS
