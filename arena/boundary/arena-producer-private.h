/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-storage-private.h"
#include "backend/arena-writer-private.h"
#include "boundary/arena-producer.h"
#include "boundary/arena-queue-private.h"
#include "sync/arena-wait-private.h"

G_BEGIN_DECLS

struct _ArenaProducer
{
  GObject           parent_instance;

  ArenaChannel     *channel;
  ArenaWriter      *writer;  /* NULL: a queue without an arena */
  ArenaWriterCalls  calls;   /* to the writer */
  ArenaUnitBuilder *builder;
  ArenaWaiter       waiter;
  ArenaQueueOut     queue;

  guint64           epoch;   /* the newest begun */
  gboolean          running;
  guint64           unit;    /* number of the next */
  gint64            looked;  /* when it last looked after the consumer */

  /* Of the open unit: they govern every wait of it. */
  gint64            deadline;
  GCancellable     *cancellable;

  guint64           spill_above;   /* as of arena_unit_builder_new() */
  guint64           spill_number;  /* of the next message */
  guint64           spilled;       /* bytes that the open unit has sent by message; 0: none */
};

/* arena-producer-spill.c: of the builder's sink. */
gboolean arena_producer_send_spill     (ArenaProducer *self,
                                        int            fd,
                                        guint64        fields_size,
                                        guint64        size,
                                        GError       **error);
/* The descriptor @slot of the unit announces what was sent. */
void     arena_producer_announce_spill (ArenaProducer *self,
                                        ArenaSlot     *slot);

/* What every call that may follow a WOULD_BLOCK does first. */
void     arena_producer_forget_need   (ArenaProducer  *self);
/* What every call begins with: INVALID_STATE without a constructor, FORKED. */
gboolean arena_producer_check_usable  (ArenaProducer  *self,
                                       GError        **error);
/* The same, and INVALID_STATE outside an iteration. */
gboolean arena_producer_check_running (ArenaProducer  *self,
                                       GError        **error);
/* Takes storage for the open unit under its deadline and cancellable. */
gboolean arena_producer_acquire       (ArenaProducer  *self,
                                       gsize           size,
                                       GError        **error);
/* As the one call that waits; @running: inside an iteration and with no unit open, else outside. */
gboolean arena_producer_enter         (ArenaProducer  *self,
                                       gboolean        running,
                                       GError        **error);
/* Waits; @wanted FALSE: the consumer closed. */
gboolean arena_producer_next_iteration (ArenaProducer  *self,
                                        gint64          deadline,
                                        GCancellable   *cancellable,
                                        gboolean       *wanted,
                                        GError        **error);
/* begin_unit() behind its checks, for who has entered; leaves in any case. */
ArenaUnitBuilder *
         arena_producer_begin_entered (ArenaProducer  *self,
                                       gsize           expected_size,
                                       gint64          timeout,
                                       GCancellable   *cancellable,
                                       GError        **error);
/* Waits for a queue slot and storage under the unit's deadline and cancellable, and opens the builder's unit. */
gboolean arena_producer_open_unit     (ArenaProducer  *self,
                                       gsize           expected_size,
                                       GError        **error);
/* Shows how often it has waited, if that is more than @n_before. */
void     arena_producer_tell_waits    (ArenaProducer  *self,
                                       guint64         n_before);
/* The open unit is over. */
void     arena_producer_end_unit      (ArenaProducer  *self);

G_END_DECLS
