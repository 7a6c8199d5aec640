/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-lease-private.h"
#include "backend/arena-storage-private.h"

G_BEGIN_DECLS

/* What the checked wrappers keep for every reader; one thread. A reader of this library carries it in its instance, any
 * other has it attached as object data. */
typedef struct
{
  ArenaLease    *open;     /* the one unit that is being read, if the reader is zero-copy */
  guint64        span;     /* of the unit that is being read */
  gboolean       reading;
  gboolean       zero_copy; /* custom readers */
  gboolean       ended;     /* a unit has been, the last was last_span */
  guint64        last_span;
  ArenaLeaseHome home;     /* custom readers: ends that other threads have left */
} ArenaReaderState;

/* How both readers of this library start. All of it but the state is constant, in a read-only arena once it is mapped. */
typedef struct
{
  GObject          parent_instance;
  ArenaReaderState state;
  ArenaStorage    *storage;
  ArenaChannel    *channel; /* the storage's */
  ArenaMapping    *data;
  guint8          *base;      /* NULL: not mapped yet */
  int              data_fd;   /* then, to be mapped; else -1 */
} ArenaOwnReader;

gboolean arena_own_reader_open  (ArenaOwnReader        *self,
                                 ArenaStorage          *storage,
                                 GError               **error);
/* Before the first look into a unit, when the producer has attached. */
gboolean arena_own_reader_map   (ArenaOwnReader        *self,
                                 GError               **error);
/* For dispose: a unit in the middle of which the reader is dropped goes back. */
void     arena_own_reader_stop  (ArenaOwnReader        *self);
void     arena_own_reader_clear (ArenaOwnReader        *self);
/* Whether the producer's page is here: takes the answer to the hello of a save. INVALID_STATE where nobody attached. */
gboolean arena_own_reader_attach (ArenaOwnReader       *self,
                                  GError              **error);
/* Without a boundary, which looks by itself, this is where a reader learns of the writer's end: PEER_GONE, CLOSED. */
gboolean arena_own_reader_enter_epoch (ArenaOwnReader  *self,
                                       GError         **error);

G_END_DECLS
