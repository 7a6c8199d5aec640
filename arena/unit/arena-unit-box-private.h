/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-envelope-private.h"

#include <stdatomic.h>

G_BEGIN_DECLS

/* What came outside of the arena, with a count of its own: a view of it keeps no segment, and the other way round. */
typedef struct
{
  atomic_uint users;
  GBytes *bytes; /* NULL once given back */
} ArenaUnitSpill;

/* What a unit shares with the views it gave out. */
typedef struct
{
  atomic_uint n_refs;
  atomic_uint storage_users;
  ArenaEnvelope envelope; /* its header is the start of the memory, which is owned */
  GBytes *storage;        /* NULL: no field is in the arena, or storage was given back */
  ArenaUnitSpill *spill;  /* NULL: nothing came outside of the arena */
} ArenaUnitBox;

/* Takes over @envelope, @storage and @spill, as arena_unit_new() says. The reference returned is the unit's. */
ArenaUnitBox *arena_unit_box_new         (guint8                    *envelope,
                                          gsize                      envelope_size,
                                          GBytes                    *storage,
                                          GBytes                    *spill,
                                          GError                   **error) G_GNUC_WARN_UNUSED_RESULT;
void          arena_unit_box_unref       (ArenaUnitBox              *self);
/* The unit gives its storage up; once or more often. */
void          arena_unit_box_release     (ArenaUnitBox              *self);
gboolean      arena_unit_box_is_released (ArenaUnitBox              *self);
guint         arena_unit_box_get_n_views (ArenaUnitBox              *self);
/* NULL once released, if the field is not in the envelope. */
GBytes       *arena_unit_box_view        (ArenaUnitBox              *self,
                                          const ArenaEnvelopeField  *field) G_GNUC_WARN_UNUSED_RESULT;
/* All of the storage, or of what came outside; NULL once released, and where there is none. */
GBytes       *arena_unit_box_view_storage (ArenaUnitBox             *self) G_GNUC_WARN_UNUSED_RESULT;
GBytes       *arena_unit_box_view_spill   (ArenaUnitBox             *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
