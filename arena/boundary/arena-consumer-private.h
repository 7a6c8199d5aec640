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

/* What a kind of consumer that owns its producer's process adds. */
typedef struct
{
  /* Starts the process, which inherits @fd. */
  gboolean (*spawn)  (ArenaConsumer *self,
                      int            fd,
                      GError       **error);
  /* The producer is gone: collects the exit status if it comes soon. */
  void     (*reap)   (ArenaConsumer *self);
  /* Sees to it that the process ends, within bounds. */
  gboolean (*end)    (ArenaConsumer *self,
                      gint64         timeout,
                      GCancellable  *cancellable,
                      GError       **error);
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
  ArenaEpochState           epoch_state;
  guint64                   epoch;     /* the newest asked for; numbers are never skipped */
  gboolean                  restart;   /* once the stopping one has ended, begin the next */
  guint64                   next_unit;
  GError                   *broken;    /* PROTOCOL or PEER_GONE: nothing can follow */

  _Atomic gint64            starve_timeout;
  _Atomic guint64           n_units;
  _Atomic guint             closed;    /* close has been asked for */

  GMutex                    mutex;     /* guards what follows */
  ArenaRemoteError         *remote_error;
  int                       wait_status; /* of the producer's process, -1 unknown */
} ArenaConsumerPrivate;

ArenaConsumerPrivate *arena_consumer_get_private (ArenaConsumer             *self);

/* arena-consumer-wait.c: waits until a descriptor can be taken. */
gboolean              arena_consumer_wait        (ArenaConsumer             *self,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);

/* arena-consumer-epoch.c */
gboolean              arena_consumer_start_epoch (ArenaConsumer             *self,
                                                  GError                   **error);
void                  arena_consumer_stop_epoch  (ArenaConsumer             *self);
/* The next unit of the running epoch; NULL without error at its end. */
ArenaUnit            *arena_consumer_take_unit   (ArenaConsumer             *self,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);
/* Reads a stopping epoch to its end. */
gboolean              arena_consumer_drain_epoch (ArenaConsumer             *self,
                                                  gint64                     deadline,
                                                  GCancellable              *cancellable,
                                                  GError                   **error);

/* Emits ArenaConsumer::starved; TRUE where a handler says it gave something back. */
gboolean              arena_consumer_emit_starved (ArenaConsumer            *self,
                                                   guint                     n_held);

G_END_DECLS
