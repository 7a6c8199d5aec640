/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-writer.h"

G_BEGIN_DECLS

/* A writer for those who call it for every unit: its methods are found once, and arguments are not checked again. What a
 * class answers is judged as by the public calls. */
typedef struct
{
  ArenaWriter                *writer;  /* not owned */
  const ArenaWriterInterface *methods;
  gboolean                  (*write_data) (ArenaWriter    *self,
                                           gconstpointer   data,
                                           gsize           size,
                                           guint64        *offset,
                                           GError        **error); /* NULL: not one of ours */
} ArenaWriterCalls;

void     arena_writer_calls_init        (ArenaWriterCalls        *self,
                                         ArenaWriter             *writer);
gboolean arena_writer_calls_begin_unit  (const ArenaWriterCalls  *self,
                                         gsize                    expected_size,
                                         gint64                   timeout,
                                         GCancellable            *cancellable,
                                         GError                 **error);
/* @bytes holds @data, or is NULL where that is only borrowed. */
gboolean arena_writer_calls_write       (const ArenaWriterCalls  *self,
                                         GBytes                  *bytes,
                                         gconstpointer            data,
                                         gsize                    size,
                                         guint64                 *offset,
                                         GError                 **error);
gboolean arena_writer_calls_commit_unit (const ArenaWriterCalls  *self,
                                         guint64                 *span,
                                         GError                 **error);

G_END_DECLS
