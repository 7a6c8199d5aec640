/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Producer to consumer, over the socket, before the descriptor that announces it; with one descriptor, of a memory file
 * that nobody can change any more. */

#define ARENA_SPILL_MAGIC G_GUINT64_CONSTANT (0x314c4c4950534141) /* "AASPILL1" */

typedef struct
{
  guint64 magic;
  guint64 unit;        /* as in the descriptor */
  guint64 number;      /* of the message, from 0 */
  guint64 fields_size; /* bytes of fields at the file's start */
} ArenaSpillMessage;

G_STATIC_ASSERT (sizeof (ArenaSpillMessage) == 4 * 8);

G_END_DECLS
