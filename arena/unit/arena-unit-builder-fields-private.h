/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-writer-private.h"
#include "unit/arena-envelope-private.h"
#include "unit/arena-unit-builder-private.h"

G_BEGIN_DECLS

/* Inside of the builder, shared by its two files. */
struct _ArenaUnitBuilder
{
  GObject parent_instance;

  ArenaWriter *writer;       /* NULL: every field goes into the envelope */
  ArenaWriterCalls calls;    /* to it */
  guint64 threshold;         /* bytes; from here on a field goes to the arena */
  const ArenaUnitSink *sink; /* NULL once detached */
  gpointer owner;

  /* the open unit */
  gboolean open;
  gboolean acquired;         /* the writer's unit is begun */
  guint64 unit;
  guint64 storage_start;     /* offset in the arena's data of the first field there */
  guint64 storage_end;       /* end of the last one; 0: none yet */
  ArenaEnvelopeEncoder encoder;
  GArray *loans;             /* ArenaInlineLoan */
};

/* A small reserved field: the caller fills it until commit, which copies it to its place in the envelope. */
typedef struct
{
  GBytes *bytes;
  guint64 offset;
} ArenaInlineLoan;

/* At every entry: CLOSED once detached, what the owner says, INVALID_STATE without an open unit. */
gboolean arena_unit_builder_enter (ArenaUnitBuilder  *self,
                                   GError           **error);

G_END_DECLS
