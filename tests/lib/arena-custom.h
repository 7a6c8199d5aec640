/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <arena.h>

G_BEGIN_DECLS

/* A backend, writer and reader that are not of the library, as an application writes one: they do what they are told,
 * the wrong things included, and count. */
typedef enum
{
  ARENA_CUSTOM_WORKS,
  ARENA_CUSTOM_FAILS,        /* sets an error: G_IO_ERROR_FAILED, "custom" */
  ARENA_CUSTOM_SAYS_NOTHING, /* fails and sets no error: an exception of a binding */
  ARENA_CUSTOM_CONTRADICTS,  /* sets an error and succeeds */
  ARENA_CUSTOM_LIES,         /* returns an object of the wrong type, or bytes of the wrong size */
} ArenaCustomMode;

#define ARENA_TYPE_CUSTOM (arena_custom_get_type ())
G_DECLARE_FINAL_TYPE (ArenaCustom, arena_custom, ARENA, CUSTOM, GObject)

struct _ArenaCustom
{
  GObject         parent_instance;
  ArenaCustomMode mode;
  gboolean        zero_copy;
  guint           n_ended;
  guint64         last_ended;
  GThread        *ended_on;
};

ArenaCustom *arena_custom_new (ArenaCustomMode mode) G_GNUC_WARN_UNUSED_RESULT;

/* Implements the three interfaces and not one of their methods. */
#define ARENA_TYPE_BARE (arena_bare_get_type ())
G_DECLARE_FINAL_TYPE (ArenaBare, arena_bare, ARENA, BARE, GObject)

G_END_DECLS
