/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_WRITER (arena_writer_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_INTERFACE (ArenaWriter, arena_writer, ARENA, WRITER, GObject)

struct _ArenaWriterInterface
{
  GTypeInterface parent_iface;

  gboolean  (*start_epoch) (ArenaWriter   *self,
                            guint64        epoch,
                            GError       **error);
  gboolean  (*begin_unit)  (ArenaWriter   *self,
                            gsize          expected_size,
                            gint64         timeout,
                            GCancellable  *cancellable,
                            GError       **error);
  gboolean  (*write)       (ArenaWriter   *self,
                            GBytes        *data,
                            guint64       *offset,
                            GError       **error);
  GBytes   *(*reserve)     (ArenaWriter   *self,
                            gsize          size,
                            gsize          alignment,
                            guint64       *offset,
                            GError       **error);
  gboolean  (*commit_unit) (ArenaWriter   *self,
                            guint64       *span,
                            GError       **error);
  gboolean  (*abort_unit)  (ArenaWriter   *self,
                            GError       **error);
};

ARENA_AVAILABLE_IN_0_1
gboolean  arena_writer_start_epoch (ArenaWriter   *self,
                                    guint64        epoch,
                                    GError       **error);
ARENA_AVAILABLE_IN_0_1
gboolean  arena_writer_begin_unit  (ArenaWriter   *self,
                                    gsize          expected_size,
                                    gint64         timeout,
                                    GCancellable  *cancellable,
                                    GError       **error);
ARENA_AVAILABLE_IN_0_1
gboolean  arena_writer_write       (ArenaWriter   *self,
                                    GBytes        *data,
                                    guint64       *offset,
                                    GError       **error);
ARENA_AVAILABLE_IN_0_1
GBytes   *arena_writer_reserve     (ArenaWriter   *self,
                                    gsize          size,
                                    gsize          alignment,
                                    guint64       *offset,
                                    GError       **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean  arena_writer_commit_unit (ArenaWriter   *self,
                                    guint64       *span,
                                    GError       **error);
ARENA_AVAILABLE_IN_0_1
gboolean  arena_writer_abort_unit  (ArenaWriter   *self,
                                    GError       **error);

G_END_DECLS
