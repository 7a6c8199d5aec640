/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_READER (arena_reader_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_INTERFACE (ArenaReader, arena_reader, ARENA, READER, GObject)

struct _ArenaReaderInterface
{
  GTypeInterface parent_iface;

  gboolean  (*enter_epoch) (ArenaReader  *self,
                            guint64       epoch,
                            GError      **error);
  GBytes   *(*read)        (ArenaReader  *self,
                            guint64       span,
                            guint64       offset,
                            gsize         size,
                            GError      **error);
  gboolean  (*end_unit)    (ArenaReader  *self,
                            guint64       span,
                            GError      **error);
};

ARENA_AVAILABLE_IN_0_1
gboolean  arena_reader_get_zero_copy (ArenaReader  *self);
ARENA_AVAILABLE_IN_0_1
gboolean  arena_reader_enter_epoch   (ArenaReader  *self,
                                      guint64       epoch,
                                      GError      **error);
ARENA_AVAILABLE_IN_0_1
GBytes   *arena_reader_read          (ArenaReader  *self,
                                      guint64       span,
                                      guint64       offset,
                                      gsize         size,
                                      GError      **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean  arena_reader_end_unit      (ArenaReader  *self,
                                      guint64       span,
                                      GError      **error);

G_END_DECLS
