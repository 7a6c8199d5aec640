/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-envelope-private.h"

#include <stdatomic.h>

G_BEGIN_DECLS

/* What a unit shares with the views it gave out. */
typedef struct
{
  atomic_uint n_refs;
  atomic_uint storage_users;
  guint8 *data;           /* of the envelope */
  ArenaEnvelope envelope; /* into data */
  GBytes *storage;        /* NULL: every field is small, or storage was given back */
} ArenaUnitBox;

/* Takes over @envelope and @storage, as arena_unit_new() says. The reference returned is the unit's. */
ArenaUnitBox *arena_unit_box_new         (guint8                    *envelope,
                                          gsize                      envelope_size,
                                          GBytes                    *storage,
                                          GError                   **error) G_GNUC_WARN_UNUSED_RESULT;
void          arena_unit_box_unref       (ArenaUnitBox              *self);
/* The unit gives its storage up; once or more often. */
void          arena_unit_box_release     (ArenaUnitBox              *self);
gboolean      arena_unit_box_is_released (ArenaUnitBox              *self);
guint         arena_unit_box_get_n_views (ArenaUnitBox              *self);
/* NULL once released, if the field is in storage. */
GBytes       *arena_unit_box_view        (ArenaUnitBox              *self,
                                          const ArenaEnvelopeField  *field) G_GNUC_WARN_UNUSED_RESULT;
/* All of the storage; NULL once released, and where there is none. */
GBytes       *arena_unit_box_view_storage (ArenaUnitBox             *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
