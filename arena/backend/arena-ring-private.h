/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-reader.h"
#include "backend/arena-ring.h"
#include "backend/arena-storage-private.h"
#include "backend/arena-writer.h"

G_BEGIN_DECLS

ArenaStorage *arena_ring_peek_storage (ArenaRing *self);

#define ARENA_TYPE_RING_READER (arena_ring_reader_get_type ())
G_DECLARE_FINAL_TYPE (ArenaRingReader, arena_ring_reader, ARENA, RING_READER, GObject)
#define ARENA_TYPE_RING_WRITER (arena_ring_writer_get_type ())
G_DECLARE_FINAL_TYPE (ArenaRingWriter, arena_ring_writer, ARENA, RING_WRITER, GObject)

ArenaReader *arena_ring_reader_new     (ArenaStorage     *storage,
                                        GError          **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaWriter *arena_ring_writer_new     (ArenaStorage     *storage) G_GNUC_WARN_UNUSED_RESULT;

/* As arena_writer_write(), from memory of any kind and without checks of the arguments. */
gboolean     arena_ring_writer_write_data (ArenaWriter    *writer,
                                           gconstpointer   data,
                                           gsize           size,
                                           guint64        *offset,
                                           GError        **error);

/* Notes that the peer has handed over unit @span. PROTOCOL where that can't be. */
gboolean     arena_ring_reader_receive (ArenaRingReader  *self,
                                        guint64           span,
                                        GError          **error);

G_END_DECLS
