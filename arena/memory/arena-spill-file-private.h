/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define ARENA_SPILL_ALIGNMENT 64

/* A memory file that is written once and then never changes again: what of a unit has no place elsewhere. Made by the
 * first piece; each begins at a multiple of ARENA_SPILL_ALIGNMENT. One thread, no mapping. A call that fails leaves the
 * file as it was. */
typedef struct
{
  int     fd;  /* -1: nothing was added */
  guint64 end; /* of the last piece: the size of the file */
} ArenaSpillFile;

void     arena_spill_file_init    (ArenaSpillFile  *self);
void     arena_spill_file_clear   (ArenaSpillFile  *self);
/* Adds @size > 0 bytes. NO_SPACE, naming the limit and the numbers. */
gboolean arena_spill_file_append  (ArenaSpillFile  *self,
                                   gconstpointer    data,
                                   gsize            size,
                                   guint64         *offset,
                                   GError         **error);
/* Adds @size > 0 zeros, so that a later fill() there finds its room. Likewise. */
gboolean arena_spill_file_reserve (ArenaSpillFile  *self,
                                   gsize            size,
                                   guint64         *offset,
                                   GError         **error);
gboolean arena_spill_file_fill    (ArenaSpillFile  *self,
                                   guint64          offset,
                                   gconstpointer    data,
                                   gsize            size,
                                   GError         **error);
/* Takes back what was added behind @end. */
void     arena_spill_file_cut     (ArenaSpillFile  *self,
                                   guint64          end);
/* From here on nobody can change size or contents, this process included. */
gboolean arena_spill_file_seal    (ArenaSpillFile  *self,
                                   GError         **error);

/* What arena_spill_file_seal() sets, for whoever receives the file. */
guint    arena_spill_file_seals   (void);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ArenaSpillFile, arena_spill_file_clear)

G_END_DECLS
