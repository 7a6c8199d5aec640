/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "unit/arena-dtype.h"

G_BEGIN_DECLS

#define ARENA_TYPE_UNIT_BUILDER (arena_unit_builder_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaUnitBuilder, arena_unit_builder, ARENA, UNIT_BUILDER, GObject)

ARENA_AVAILABLE_IN_0_1
gint      arena_unit_builder_append_bytes   (ArenaUnitBuilder  *self,
                                             const char        *name,
                                             ArenaDType         dtype,
                                             const guint64     *shape,
                                             gsize              n_dims,
                                             GBytes            *data,
                                             GError           **error);
ARENA_AVAILABLE_IN_0_1
gint      arena_unit_builder_append_address (ArenaUnitBuilder  *self,
                                             const char        *name,
                                             ArenaDType         dtype,
                                             const guint64     *shape,
                                             gsize              n_dims,
                                             guint64            address,
                                             gsize              size,
                                             const gint64      *byte_strides,
                                             gsize              n_strides,
                                             GError           **error);
ARENA_AVAILABLE_IN_0_1
GBytes   *arena_unit_builder_reserve        (ArenaUnitBuilder  *self,
                                             const char        *name,
                                             ArenaDType         dtype,
                                             const guint64     *shape,
                                             gsize              n_dims,
                                             guint             *index,
                                             GError           **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
gboolean  arena_unit_builder_set_value      (ArenaUnitBuilder  *self,
                                             GVariant          *value,
                                             GError           **error);
ARENA_AVAILABLE_IN_0_1
gboolean  arena_unit_builder_set_payload    (ArenaUnitBuilder  *self,
                                             const char        *content_type,
                                             const guint8      *payload,
                                             gsize              n_bytes,
                                             GError           **error);

ARENA_AVAILABLE_IN_0_1
gboolean  arena_unit_builder_commit         (ArenaUnitBuilder  *self,
                                             GError           **error);
ARENA_AVAILABLE_IN_0_1
void      arena_unit_builder_abort          (ArenaUnitBuilder  *self);

G_END_DECLS
