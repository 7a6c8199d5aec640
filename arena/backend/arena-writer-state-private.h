/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-loan-private.h"
#include "backend/arena-storage-private.h"
#include "base/arena-layout-private.h"
#include "memory/arena-copy-policy-private.h"

G_BEGIN_DECLS

/* What the writers of a pool and of a ring have in common: the open unit, and how it waits. One thread. */
typedef struct
{
  ArenaStorage  *storage;
  ArenaChannel  *channel;     /* the storage's */
  ArenaMapping  *data;
  guint8        *base;
  ArenaWaiter    waiter;
  const char    *what;        /* is waited for, for messages */
  ArenaCopyPolicy copying;
  guint64        epoch;
  guint64        n_units;     /* committed: the number of the open one, for messages */

  gboolean       in_unit;
  gint64         deadline;    /* of the unit's waits */
  GCancellable  *cancellable; /* likewise */
  ArenaLayout    layout;
  guint          n_fields;
  ArenaLoan     *loan;        /* of the unit, once it has reserved */
} ArenaWriterState;

void     arena_writer_state_init         (ArenaWriterState     *self,
                                          ArenaStorage         *storage,
                                          const char           *what);
void     arena_writer_state_clear        (ArenaWriterState     *self);

gboolean arena_writer_state_start_epoch  (ArenaWriterState     *self,
                                          guint64               epoch,
                                          GError              **error);
/* Checks everything that refuses a unit, then notes how it waits; opened by open(). */
gboolean arena_writer_state_prepare      (ArenaWriterState     *self,
                                          gint64                timeout,
                                          GCancellable         *cancellable,
                                          GError              **error);
void     arena_writer_state_open         (ArenaWriterState     *self);
/* FORKED, CLOSED, INVALID_STATE outside a unit. */
gboolean arena_writer_state_check_open   (ArenaWriterState     *self,
                                          const char           *call,
                                          GError              **error);
/* For a size that never fits: TOO_LARGE, or NOT_SUPPORTED where a boundary would send it outside of the arena. */
void     arena_writer_state_refuse_size  (ArenaWriterState     *self,
                                          GError              **error,
                                          const char           *format,
                                          ...) G_GNUC_PRINTF (3, 4);
/* Where @size more bytes would go, in @layout; that error with both numbers beyond @limit. */
gboolean arena_writer_state_place        (ArenaWriterState     *self,
                                          guint64               size,
                                          guint64               alignment,
                                          guint64               limit,
                                          const char           *limit_name,
                                          ArenaLayout          *layout,
                                          guint64              *offset,
                                          GError              **error);
void     arena_writer_state_close        (ArenaWriterState     *self);

/* Part of every check of a wait; says "shut down while waiting" where that is what ended it. */
gboolean arena_writer_state_check_wait   (ArenaWriterState     *self,
                                          GError              **error);
gboolean arena_writer_state_wait         (ArenaWriterState     *self,
                                          const ArenaWaitOps   *ops,
                                          gpointer              data,
                                          GError              **error);

G_END_DECLS
