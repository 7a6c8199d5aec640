/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where a ring's reader puts its copies: memory that the GBytes of each copy owns, on whatever thread that dies. The first
 * member of whatever implements it. Reading thread only, but for get_bytes. */
typedef struct _ArenaOutputs ArenaOutputs;

struct _ArenaOutputs
{
  /* At least @size bytes at a multiple of 64; the next call is finish(). */
  gpointer (*take)      (ArenaOutputs  *self,
                         gsize          size,
                         GError       **error);
  GBytes  *(*finish)    (ArenaOutputs  *self,
                         gpointer       buffer,
                         gsize          size);
  /* In buffers that are kept by consumers or wait for reuse. Any thread. */
  gsize    (*get_bytes) (ArenaOutputs  *self);
  /* The reader is done; buffers live on. */
  void     (*unref)     (ArenaOutputs  *self);
};

static inline void
arena_outputs_unref (ArenaOutputs *self)
{
  self->unref (self);
}

G_END_DECLS
