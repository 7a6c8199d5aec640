/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "unit/arena-field.h"

G_BEGIN_DECLS

#define ARENA_TYPE_UNIT (arena_unit_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaUnit, arena_unit, ARENA, UNIT, GObject)

ARENA_AVAILABLE_IN_0_1
guint64      arena_unit_get_sequence  (ArenaUnit   *self);
ARENA_AVAILABLE_IN_0_1
guint64      arena_unit_get_epoch     (ArenaUnit   *self);
ARENA_AVAILABLE_IN_0_1
guint        arena_unit_get_n_fields  (ArenaUnit   *self);
ARENA_AVAILABLE_IN_0_1
guint        arena_unit_get_n_exports (ArenaUnit   *self);
ARENA_AVAILABLE_IN_0_1
gboolean     arena_unit_get_read_only (ArenaUnit   *self);
ARENA_AVAILABLE_IN_0_1
gboolean     arena_unit_get_released  (ArenaUnit   *self);

ARENA_AVAILABLE_IN_0_1
gint         arena_unit_find_field    (ArenaUnit   *self,
                                       const char  *name);
ARENA_AVAILABLE_IN_0_1
ArenaField  *arena_unit_dup_field     (ArenaUnit   *self,
                                       guint        index,
                                       GError     **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
GBytes      *arena_unit_dup_bytes     (ArenaUnit   *self,
                                       guint        index,
                                       GError     **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
GBytes      *arena_unit_dup_storage   (ArenaUnit   *self,
                                       GError     **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
GVariant    *arena_unit_dup_value     (ArenaUnit   *self,
                                       GError     **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
guint8      *arena_unit_copy_payload  (ArenaUnit   *self,
                                       gsize       *n_bytes,
                                       char       **content_type,
                                       GError     **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
guint8      *arena_unit_take_packed   (ArenaUnit   *self,
                                       gsize       *n_bytes,
                                       GBytes     **storage,
                                       GError     **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
void         arena_unit_release       (ArenaUnit   *self);

G_END_DECLS
