/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bench-boundary.h"

#include "backend/arena-pool-private.h"
#include "backend/arena-writer-private.h"
#include "boundary/arena-queue-private.h"

G_BEGIN_DECLS

/* Units through a pool by the core alone: the pool's writer, the queue, the pool's reader; no envelope, no ArenaUnit, no
 * GBytes per unit, and both sides look again and again where they wait for the queue. It is what a binding's packed call
 * could reach. */

typedef struct
{
  BenchPeer        peer;
  ArenaPool       *pool;
  ArenaPoolReader *reader;
  ArenaQueueIn     queue;
  gsize            size;
} BenchLane;

void   bench_lane_open    (BenchLane    *self,
                           gsize         size,
                           guint         n_segments,
                           guint         queue_size,
                           const char   *figure,
                           const int    *fds,
                           guint         n_fds);
/* As of bench_boundary_receive(). */
double bench_lane_receive (BenchLane    *self,
                           guint64       n_units,
                           BenchUse      use);
void   bench_lane_close   (BenchLane    *self);

/* In the peer. */
typedef struct
{
  ArenaStorage    *storage;
  ArenaWriter     *writer;
  ArenaWriterCalls calls;
  ArenaQueueOut    queue;
  gsize            size;
  guint64        **sources; /* units are copied from one after the other */
  guint            n_sources;
} BenchLaneSender;

void   bench_lane_sender_init  (BenchLaneSender  *self,
                                gsize             size,
                                guint             n_sources);
/* The source of unit @number, stamped. */
guint64 *bench_lane_sender_source (BenchLaneSender *self,
                                   guint64          number);
void   bench_lane_sender_send  (BenchLaneSender  *self,
                                guint64           n_units);
void   bench_lane_sender_clear (BenchLaneSender  *self);

G_END_DECLS
