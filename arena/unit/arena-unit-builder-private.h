/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-writer.h"
#include "unit/arena-unit-builder.h"

G_BEGIN_DECLS

/* Where a builder's unit goes; the boundary implements it. */
typedef struct
{
  /* Takes storage for the open unit through the writer's begin_unit(), under the deadline and cancellable the unit was
   * begun with. @size is what is known to be needed. Called at most once a unit with success. */
  gboolean (*acquire) (gpointer   owner,
                       gsize      size,
                       GError   **error);
  /* Publishes the envelope, in the area given to open() unless it was sent outside. @size 0: the unit took no storage.
   * Never waits. After success or failure the unit is over. */
  gboolean (*publish) (gpointer   owner,
                       gsize      envelope_size,
                       guint64    span,
                       guint64    offset,
                       guint64    size,
                       GError   **error);
  /* Sends the file @fd of @size bytes, before the same unit's publish(), waiting for room under the same: fields in its
   * first @fields_size bytes, and where the envelope is longer than the area given to open(), the envelope at the next
   * multiple of ARENA_SPILL_ALIGNMENT. It is sealed after that, so a unit whose sending may be tried again is still open
   * to more fields. NULL where nothing can travel outside: then an envelope never outgrows its slot. */
  gboolean (*send)    (gpointer   owner,
                       int        fd,
                       guint64    fields_size,
                       guint64    size,
                       GError   **error);
  /* The unit was given up; the writer has been told already. */
  void     (*abandon) (gpointer   owner);
  /* Every entry of the builder: FORKED, CLOSED after a stop, ... */
  gboolean (*check)   (gpointer   owner,
                       GError   **error);
} ArenaUnitSink;

/* @writer may be NULL (a queue without an arena). Fields of more than @spill_above bytes, and those that the writer
 * finds too large, travel outside; G_MAXUINT64: none do, and it is an error. @owner outlives the builder or calls
 * detach() first. */
ArenaUnitBuilder *arena_unit_builder_new      (ArenaWriter         *writer,
                                               guint64              threshold,
                                               guint64              spill_above,
                                               const ArenaUnitSink *sink,
                                               gpointer             owner) G_GNUC_WARN_UNUSED_RESULT;
/* Opens unit number @unit: its envelope is written to @envelope. INVALID_STATE while another unit is open.
 * @acquired: storage was taken already. */
gboolean          arena_unit_builder_open     (ArenaUnitBuilder    *self,
                                               guint64              unit,
                                               guint8              *envelope,
                                               gsize                envelope_size,
                                               gboolean             acquired,
                                               GError             **error);
gboolean          arena_unit_builder_is_open  (ArenaUnitBuilder    *self);
/* The producer goes away: the open unit is aborted, every later call is CLOSED. */
void              arena_unit_builder_detach   (ArenaUnitBuilder    *self);

G_END_DECLS
