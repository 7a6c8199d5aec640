/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "sync/arena-peer-private.h"

G_BEGIN_DECLS

typedef enum
{
  ARENA_WAIT_DONE,
  ARENA_WAIT_FAILED,  /* error set */
  ARENA_WAIT_PENDING, /* nothing can end the wait yet */
  ARENA_WAIT_AGAIN,   /* arm and look again: sleeping now would miss something */
} ArenaWaitStatus;

/* What one kind of wait looks at. The loop (and the sources that drive the same ops from a main context) does, in this
 * order: drain the own event, arm, check, settle, poll; and again. Never drain between check and poll. */
typedef struct
{
  const char *what; /* "a free segment": ends in messages and in the log */

  /* Re-reads everything that can end the wait: cursors, both state words, epochs, the peer's death (before the
   * cursor, so that what it published last is still delivered). */
  ArenaWaitStatus (*check)  (gpointer   data,
                             GError   **error);
  /* Stores the wants. */
  void            (*arm)    (gpointer   data);
  /* Nullable. Called when a check after arm() found nothing, before sleeping: the producer tells an armed consumer
   * that it starves here, the consumer decides whether it starves its producer. @sleep_us is how long the poll may
   * last at most (-1: for ever) and may be lowered. */
  ArenaWaitStatus (*settle) (gpointer   data,
                             gint64    *sleep_us,
                             GError   **error);
  /* Nullable. Every return but WOULD_BLOCK: takes back what arm() announced. */
  void            (*disarm) (gpointer   data);
} ArenaWaitOps;

/* One endpoint's way of waiting: its event, its peer, what spinning has brought so far, and the statistics. */
typedef struct
{
  int           event;         /* borrowed from the channel */
  ArenaPeer    *peer;          /* borrowed from the channel */
  gboolean      want_message;  /* also wake for a message on the socket: until the hello is answered */
  gboolean      want_room;     /* also wake when the socket takes a message */
  _Atomic guint entered;       /* one wait per endpoint at a time */
  guint         spin;          /* budget, in pauses; 0: none */
  guint         spin_failures; /* in a row */
  guint         spin_skip;     /* this many waits go without one */
  gint64        sleep_hint;    /* of the last WOULD_BLOCK: how long a source may sleep at most, -1 for ever */
  gboolean      explained;     /* settle() has logged why this wait lasts: one line is enough */
  gboolean      stall_logged;  /* or how long it lasts */
  gint64        since;         /* of this wait, with those just before that timed out */
  const ArenaWaitOps *timed_out; /* what the last wait was for, if it timed out: the next one goes on with it */
  /* Statistics, read by other threads: relaxed. */
  _Atomic guint64 n_waits;     /* that slept */
  _Atomic gint64  waited_us;
} ArenaWaiter;

void     arena_waiter_init   (ArenaWaiter         *self,
                              int                  event,
                              ArenaPeer           *peer);
/* BUSY while another thread waits on this endpoint. */
gboolean arena_waiter_enter  (ArenaWaiter         *self,
                              GError             **error);
void     arena_waiter_leave  (ArenaWaiter         *self);

/* Waits, entered. @deadline as of arena_deadline_from_timeout(). Errors of its own: WOULD_BLOCK (deadline 0),
 * TIMED_OUT, G_IO_ERROR_CANCELLED; else the check's. */
gboolean arena_waiter_wait   (ArenaWaiter         *self,
                              const ArenaWaitOps  *ops,
                              gpointer             data,
                              gint64               deadline,
                              GCancellable        *cancellable,
                              GError             **error);

/* For waits in a main context, which are sleeps of the same kind. count() notes one that began at @since; log_stall() writes
 * a line, once, about a wait that did, and says how long until it is due, -1 where it is not. */
void     arena_waiter_count     (ArenaWaiter *self,
                                 gint64       since);
gint64   arena_waiter_log_stall (ArenaWaiter *self,
                                 const char  *what,
                                 gint64       since,
                                 gboolean    *logged);

G_END_DECLS
