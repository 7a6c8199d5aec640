/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-writer-private.h"
#include "memory/arena-spill-file-private.h"
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
  guint64 spill_above;       /* bytes; what has more, or no room there, goes outside. G_MAXUINT64: nothing does */
  const ArenaUnitSink *sink; /* NULL once detached */
  gpointer owner;

  /* the open unit */
  gboolean open;
  gboolean acquired;         /* the writer's unit is begun */
  gboolean outside;          /* fields or the envelope travel outside */
  guint64 unit;
  guint64 storage_start;     /* offset in the arena's data of the first field there */
  guint64 storage_end;       /* end of the last one; 0: none yet */
  ArenaEnvelopeEncoder encoder;
  GArray *loans;             /* ArenaHeapLoan */
  ArenaSpillFile spill;
};

/* A reserved field that is not in the arena: the caller fills it until commit, which copies it to its place in the
 * envelope or outside. */
typedef struct
{
  GBytes *bytes;
  guint64 offset;
  gboolean spilled;
} ArenaHeapLoan;

/* At every entry: CLOSED once detached, what the owner says, INVALID_STATE without an open unit. */
gboolean arena_unit_builder_enter (ArenaUnitBuilder  *self,
                                   GError           **error);

/* arena-unit-builder-spill.c: what travels outside. Both fill in the offset of @field. */
gboolean arena_unit_builder_spill         (ArenaUnitBuilder    *self,
                                           ArenaEnvelopeField  *field,
                                           gconstpointer        data,
                                           GError             **error);
GBytes  *arena_unit_builder_reserve_spill (ArenaUnitBuilder    *self,
                                           ArenaEnvelopeField  *field,
                                           GError             **error) G_GNUC_WARN_UNUSED_RESULT;
/* Room for an envelope of @whole bytes, on behalf of the next field. */
gboolean arena_unit_builder_grow_envelope (ArenaUnitBuilder    *self,
                                           guint64              whole,
                                           GError             **error);
/* Sends it all; the envelope is finished. */
gboolean arena_unit_builder_send_outside  (ArenaUnitBuilder    *self,
                                           gsize                envelope_size,
                                           GError             **error);
void     arena_unit_builder_forget_outside (ArenaUnitBuilder   *self);

G_END_DECLS
