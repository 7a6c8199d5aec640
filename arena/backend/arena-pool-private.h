/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-pool.h"
#include "backend/arena-reader.h"
#include "backend/arena-storage-private.h"
#include "backend/arena-writer.h"

G_BEGIN_DECLS

ArenaStorage *arena_pool_peek_storage (ArenaPool *self);

#define ARENA_TYPE_POOL_READER (arena_pool_reader_get_type ())
G_DECLARE_FINAL_TYPE (ArenaPoolReader, arena_pool_reader, ARENA, POOL_READER, GObject)
#define ARENA_TYPE_POOL_WRITER (arena_pool_writer_get_type ())
G_DECLARE_FINAL_TYPE (ArenaPoolWriter, arena_pool_writer, ARENA, POOL_WRITER, GObject)

ArenaReader  *arena_pool_reader_new     (ArenaStorage     *storage,
                                         GError          **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaWriter  *arena_pool_writer_new     (ArenaStorage     *storage) G_GNUC_WARN_UNUSED_RESULT;

/* As arena_writer_write(), from memory of any kind and without checks of the arguments. */
gboolean      arena_pool_writer_write_data (ArenaWriter    *writer,
                                           gconstpointer   data,
                                           gsize           size,
                                           guint64        *offset,
                                           GError        **error);

/* Notes that the peer has handed over unit @span, and in which segment; what it skipped is given back. PROTOCOL where
 * that can't be. */
gboolean      arena_pool_reader_receive (ArenaPoolReader  *self,
                                         guint64           span,
                                         guint64          *index,
                                         GError          **error);
/* Where these bytes of the unit received last are. PROTOCOL where they are not all in its segment. */
gconstpointer arena_pool_reader_locate  (ArenaPoolReader  *self,
                                         guint64           offset,
                                         gsize             size,
                                         GError          **error);
/* Gives back the unit received in segment @index, from any thread: which one it is can't change before. */
gboolean      arena_pool_reader_release (ArenaReader      *reader,
                                         guint64           index,
                                         GError          **error);

/* Waiting thread only. Held means freed[i] != the last sequence received from i; there is no second mark. */
gboolean      arena_pool_reader_is_held (ArenaPoolReader  *self,
                                         guint             index);
guint         arena_pool_reader_n_held  (ArenaPoolReader  *self);

G_END_DECLS
