/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include <gio/gunixfdlist.h>

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_BACKEND (arena_backend_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_INTERFACE (ArenaBackend, arena_backend, ARENA, BACKEND, GObject)

struct _ArenaBackendInterface
{
  GTypeInterface parent_iface;

  ArenaWriter *(*open_writer) (ArenaBackend  *self,
                               GError       **error);
  ArenaReader *(*open_reader) (ArenaBackend  *self,
                               GError       **error);
  gboolean     (*shutdown)    (ArenaBackend  *self,
                               GError       **error);
  gboolean     (*close)       (ArenaBackend  *self,
                               GError       **error);
  gboolean     (*unlink)      (ArenaBackend  *self,
                               GError       **error);
  GVariant    *(*save)        (ArenaBackend  *self,
                               GUnixFDList   *fds,
                               GError       **error);
  gboolean     (*load)        (ArenaBackend  *self,
                               GVariant      *state,
                               GUnixFDList   *fds,
                               GError       **error);
};

ARENA_AVAILABLE_IN_0_1
ArenaWriter *arena_backend_open_writer (ArenaBackend  *self,
                                        GError       **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
ArenaReader *arena_backend_open_reader (ArenaBackend  *self,
                                        GError       **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
gboolean     arena_backend_shutdown    (ArenaBackend  *self,
                                        GError       **error);
ARENA_AVAILABLE_IN_0_1
gboolean     arena_backend_close       (ArenaBackend  *self,
                                        GError       **error);
ARENA_AVAILABLE_IN_0_1
gboolean     arena_backend_unlink      (ArenaBackend  *self,
                                        GError       **error);

ARENA_AVAILABLE_IN_0_1
GVariant    *arena_backend_save        (ArenaBackend  *self,
                                        GUnixFDList   *fds,
                                        GError       **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean     arena_backend_load        (ArenaBackend  *self,
                                        GVariant      *state,
                                        GUnixFDList   *fds,
                                        GError       **error);

G_END_DECLS
