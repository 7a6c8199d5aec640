/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-storage-private.h"
#include "boundary/arena-consumer.h"
#include "boundary/arena-queue-private.h"
#include "boundary/arena-starvation-private.h"
#include "sync/arena-wait-private.h"

G_BEGIN_DECLS

/* The one iteration there is at a time, as the consumer sees it. */
typedef enum
{
  ARENA_EPOCH_NONE,     /* none begun yet */
  ARENA_EPOCH_RUNNING,
  ARENA_EPOCH_STOPPING, /* told to stop; what it had published is read and thrown away up to its END or ERROR */
  ARENA_EPOCH_ENDED,    /* END or ERROR was read: nothing of it is in the queue */
} ArenaEpochState;

/* How far a process has been made to end: first it may leave by itself, then it is asked, then it is killed. */
typedef struct
{
  gint64 timeout; /* for leaving by itself, -1: the library's own bound */
  guint  step;    /* 0: not begun */
  gint64 until;   /* end of this step, monotonic */
} ArenaEnding;

/* What a kind of consumer that owns its producer's process adds. */
typedef struct
{
  /* Starts the process, which inherits @fd. */
  gboolean (*spawn)     (ArenaConsumer *self,
                         int            fd,
                         GError       **error);
  /* The producer is gone: collects the exit status if it comes in time. */
  gboolean (*reap)      (ArenaConsumer *self,
                         gint64         timeout_us);
  /* Sees to it that the process ends, within bounds, without waiting. TRUE: it has. FALSE without error: call again when
   * it has ended, or in @wait_us. */
  gboolean (*end_step)  (ArenaConsumer *self,
                         ArenaEnding   *ending,
                         gint64        *wait_us,
                         GError       **error);
  /* Waits for its end. FALSE: cancelled. */
  gboolean (*wait)      (ArenaConsumer *self,
                         gint64         wait_us,
                         GCancellable  *cancellable,
                         GError       **error);
  /* Readable when it has ended; -1: nothing to watch, look again every few milliseconds. */
  int      (*get_pidfd) (ArenaConsumer *self);
} ArenaConsumerHooks;

typedef struct
{
  /* Construction. */
  ArenaBackend             *backend;
  guint                     buffer_size;
  guint                     threshold;
  guint                     envelope_size;
  const ArenaConsumerHooks *hooks; /* nullable */

  /* Set by init, constant after it. */
  ArenaStorage             *storage;
  ArenaChannel             *channel;
  ArenaReader              *reader;

  /* The waiting thread's own, under the waiter's entry. */
  ArenaWaiter               waiter;
  ArenaQueueIn              queue;
  ArenaStarvation           starvation;
  ArenaConsumer            *kept;        /* own reference, from a handler on to the end of the call */
  gboolean                  asynchronous; /* the wait goes on over several tries */
  gint64                    status_until; /* an asynchronous call looks so long for the exit status; 0: not yet */
  ArenaEpochState           epoch_state;
  guint64                   epoch;     /* the newest asked for; numbers are never skipped */
  gboolean                  restart;   /* once the stopping one has ended, begin the next */
  guint64                   next_unit;
  guint64                   spill_number; /* of the next message */
  gboolean                  spill_told;
  GError                   *broken;    /* PROTOCOL or PEER_GONE: nothing can follow */

  _Atomic gint64            starve_timeout;
  _Atomic guint64           n_units;
  _Atomic guint             closed;    /* close has been asked for */
  _Atomic int               wait_status; /* of the producer's process, -1 unknown */
  _Atomic guint             shown_state; /* ArenaConsumerState */
  _Atomic guint             told_closed; /* the signal has been emitted */

  GMutex                    mutex;     /* guards what follows */
  ArenaRemoteError         *remote_error;
  int                       epoll;       /* for get_fd(), -1 until asked for */
  int                       epoll_pidfd; /* which it watches */
} ArenaConsumerPrivate;

/* A unit as it came: its envelope isn't checked yet. */
typedef struct
{
  guint64  sequence;
  guint64  epoch;
  guint8  *envelope;
  gsize    envelope_size;
  GBytes  *storage; /* NULL: no field is in the arena */
  GBytes  *spill;   /* NULL: no field is outside */
} ArenaReceived;

ArenaConsumerPrivate *arena_consumer_get_private (ArenaConsumer             *self);

/* arena-consumer-calls.c: as the one waiting thread. leave() takes an error and gives it back with what is known of the
 * producer's end. */
gboolean              arena_consumer_check_open  (ArenaConsumer             *self,
                                                  GError                   **error);
gboolean              arena_consumer_enter       (ArenaConsumer             *self,
                                                  GError                   **error);
GError               *arena_consumer_leave       (ArenaConsumer             *self,
                                                  GError                    *error);
ArenaUnit            *arena_consumer_next_unit   (ArenaConsumer             *self,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);

/* arena-consumer-wait.c: waits until a descriptor can be taken. */
gboolean              arena_consumer_wait        (ArenaConsumer             *self,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);

/* arena-consumer-epoch.c */
gboolean              arena_consumer_start_epoch (ArenaConsumer             *self,
                                                  GError                   **error);
void                  arena_consumer_stop_epoch  (ArenaConsumer             *self);
/* The next unit of the running epoch; FALSE without error at its end. */
gboolean              arena_consumer_take_unit   (ArenaConsumer             *self,
                                                  ArenaReceived             *received,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);
/* Reads a stopping epoch to its end. */
gboolean              arena_consumer_drain_epoch (ArenaConsumer             *self,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);

/* arena-consumer-close.c: what close() does before and after the process has ended. */
void                  arena_consumer_begin_close (ArenaConsumer             *self);
gboolean              arena_consumer_end_close   (ArenaConsumer             *self,
                                                  GError                   **error);

/* arena-consumer-source.c: the producer's descriptors have changed. */
void                  arena_consumer_update_fd   (ArenaConsumer             *self);

/* arena-consumer-state.c: keep the property, and notify. */
gboolean              arena_consumer_has_news    (ArenaConsumer             *self);
void                  arena_consumer_show_state  (ArenaConsumer             *self);
void                  arena_consumer_show_closed (ArenaConsumer             *self);

/* Emits ArenaConsumer::closed, once. */
void                  arena_consumer_emit_closed (ArenaConsumer             *self,
                                                  const GError              *error);
/* Emits ArenaConsumer::starved; TRUE where a handler says it gave something back. */
gboolean              arena_consumer_emit_starved (ArenaConsumer            *self,
                                                   guint                     n_held);

G_END_DECLS
