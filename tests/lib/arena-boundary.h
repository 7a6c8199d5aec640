/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "arena-test.h"
#include "backend/arena-pool.h"
#include "backend/arena-ring.h"
#include "base/arena-error.h"
#include "boundary/arena-consumer-private.h"
#include "boundary/arena-producer-private.h"
#include "boundary/arena-worker.h"

G_BEGIN_DECLS

/* Both ends of a boundary for tests: a producer on a thread of this process or in a process of its own, units whose
 * bytes tell which unit they belong to, and a peer that sends what no correct one would. Everything here asserts. */

/* An arena; a ring of the size of that pool. */
ArenaBackend   *arena_test_pool_new         (gsize               segment_size,
                                             guint               count) G_GNUC_WARN_UNUSED_RESULT;
/* The same with ARENA_REUSE_ANY. */
ArenaBackend   *arena_test_any_pool_new     (gsize               segment_size,
                                             guint               count) G_GNUC_WARN_UNUSED_RESULT;
ArenaBackend   *arena_test_ring_new         (gsize               capacity) G_GNUC_WARN_UNUSED_RESULT;
/* A pool of two segments or a ring of this capacity, with ARENA_OVERSIZE_SPILL. */
ArenaBackend   *arena_test_spilling_new     (gboolean            ring,
                                             gsize               size) G_GNUC_WARN_UNUSED_RESULT;
/* A consumer of @backend (taken over). */
ArenaConsumer  *arena_test_consumer_new     (ArenaBackend       *backend,
                                             guint               buffer_size) G_GNUC_WARN_UNUSED_RESULT;

/* A producer attached to @consumer in this thread. */
ArenaProducer  *arena_test_producer_new     (ArenaConsumer      *consumer) G_GNUC_WARN_UNUSED_RESULT;
/* Both in this thread, over @backend (taken over); begin() starts an iteration on both sides. */
typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
} ArenaTestBoundary;

void            arena_test_boundary_open    (ArenaTestBoundary  *self,
                                             ArenaBackend       *backend,
                                             guint               buffer_size);
void            arena_test_boundary_begin   (ArenaTestBoundary  *self);
void            arena_test_boundary_clear   (ArenaTestBoundary  *self);
/* A thread that attaches, runs @func and drops the producer. Join it, after the consumer was closed where @func runs
 * until then. */
typedef void (*ArenaTestProducerFunc)       (ArenaProducer      *producer,
                                             gpointer            data);
GThread        *arena_test_start_producer   (ArenaConsumer      *consumer,
                                             ArenaTestProducerFunc func,
                                             gpointer            data) G_GNUC_WARN_UNUSED_RESULT;

/* What a producer sends in each iteration until its consumer closes: an ArenaTestProducerFunc and its data. Unit u
 * (counted through all iterations) has one field "x" of @size bytes in the pattern of u, and the value u. */
typedef struct
{
  guint n_units;
  gsize size;
} ArenaTestSeries;

void            arena_test_send_series      (ArenaProducer      *producer,
                                             gpointer            data);
/* One unit. FALSE with the error of whatever call failed; the unit is then aborted. */
gboolean        arena_test_send             (ArenaProducer      *producer,
                                             gsize               size,
                                             gint64              timeout,
                                             GError            **error);
/* A unit of two fields, @size bytes and twice as many, of which a spilling arena of @size has the first. */
void            arena_test_send_split       (ArenaProducer      *producer,
                                             gsize               size);
/* Waits for an iteration that must come. */
void            arena_test_wait_iteration   (ArenaProducer      *producer);

/* The next unit, or the end, which must come within 10 s. */
ArenaUnit      *arena_test_next             (ArenaConsumer      *consumer) G_GNUC_WARN_UNUSED_RESULT;
void            arena_test_assert_end       (ArenaConsumer      *consumer);
void            arena_test_assert_unit      (ArenaUnit          *unit,
                                             gsize               size);
/* The bytes of field 0, and whether they are still those of @unit. */
GBytes         *arena_test_dup_bytes        (ArenaUnit          *unit) G_GNUC_WARN_UNUSED_RESULT;
gboolean        arena_test_check_bytes      (GBytes             *bytes,
                                             guint64             unit) G_GNUC_WARN_UNUSED_RESULT;
/* Waits until a producer that has published something publishes no more; returns how much it has. */
guint64         arena_test_wait_for_pause   (ArenaConsumer      *consumer);
/* Receives @n units of @size and drops them. */
void            arena_test_receive          (ArenaConsumer      *consumer,
                                             guint               n,
                                             gsize               size);
/* Closes, drops, and joins a thread (NULL: none). */
void            arena_test_close            (ArenaConsumer      *consumer,
                                             GThread            *producer);

/* A thread that cancels @cancellable after @after_ms, to be joined by join_canceller(). */
GThread        *arena_test_cancel_later     (GCancellable       *cancellable,
                                             guint               after_ms) G_GNUC_WARN_UNUSED_RESULT;
void            arena_test_join_canceller   (GThread            *thread,
                                             GCancellable       *cancellable);

/* A producer's end without a producer: writes what it likes. */
typedef struct
{
  ArenaChannel  *channel;
  ArenaQueueOut  queue;
} ArenaTestPeer;

void            arena_test_peer_init        (ArenaTestPeer      *self,
                                             ArenaConsumer      *consumer);
/* Publishes @slot, with an envelope of no fields where it is a unit without an envelope size. */
void            arena_test_peer_publish     (ArenaTestPeer      *self,
                                             ArenaSlot           slot);
/* As if its process had died. */
void            arena_test_peer_clear       (ArenaTestPeer      *self);

/* A worker that runs tests/process/worker.c with these arguments, up to a NULL. */
ArenaWorker    *arena_test_worker_new       (ArenaBackend       *backend,
                                             guint               buffer_size,
                                             ...) G_GNUC_NULL_TERMINATED G_GNUC_WARN_UNUSED_RESULT;
/* next() until it fails; asserts PEER_GONE with @text. Returns how many units came before. */
guint           arena_test_assert_gone      (ArenaConsumer      *consumer,
                                             const char         *text);
/* Whether that process is there, as anything but a zombie. */
gboolean        arena_test_process_exists   (gint64              pid);

/* From here on, messages of the library's log domain are kept instead of being printed or fatal. */
void            arena_test_log_capture      (void);
/* How many of this level with @text in them (NULL: any) have been logged since the last call of log_forget(). */
guint           arena_test_log_count        (GLogLevelFlags      level,
                                             const char         *text);
void            arena_test_log_forget       (void);

G_END_DECLS
