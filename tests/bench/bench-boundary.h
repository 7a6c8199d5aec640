/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <arena.h>

#include "bench-peer.h"

G_BEGIN_DECLS

/* Units through the public API between two processes: ArenaConsumer here, ArenaProducer in the peer, one field each. */

/* What the consumer does with a unit's bytes. */
typedef enum
{
  BENCH_GLANCE, /* looks at three words of some units */
  BENCH_READ,   /* reads every byte of all */
} BenchUse;

typedef struct
{
  BenchPeer      peer;
  ArenaConsumer *consumer;
  gsize          size;
} BenchBoundary;

/* @backend is taken over; @fds are given to the peer as its descriptors 1 and up. */
void     bench_boundary_open    (BenchBoundary  *self,
                                 ArenaBackend   *backend,
                                 guint           buffer_size,
                                 const char     *figure,
                                 gsize           size,
                                 const int      *fds,
                                 guint           n_fds);
/* One iteration. Returns ns per unit, from when the producer began the first unit after the warm-up to when the last one
 * was received; that one is then checked whole. */
double   bench_boundary_receive (BenchBoundary  *self,
                                 BenchCommand    command,
                                 guint64         n_units,
                                 BenchUse        use);
/* Orders the peer's base: ns per unit. */
double   bench_boundary_base    (BenchBoundary  *self,
                                 guint64         n_units);
void     bench_boundary_close   (BenchBoundary  *self);

/* In the peer. */
typedef struct
{
  ArenaProducer *producer;
  gsize          size;
  guint64       *source;
  GPtrArray     *slots; /* where the units of the warm iteration were, in the arena */
} BenchSender;

/* Units before the clock starts. */
guint64  bench_warm_up          (guint64         n_units);
void     bench_sender_init      (BenchSender    *self,
                                 gsize           size);
/* One iteration of @order->n_units. */
void     bench_sender_send      (BenchSender    *self,
                                 const BenchOrder *order);
void     bench_sender_clear     (BenchSender    *self);

G_END_DECLS
