/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <string.h>
#include <unistd.h>

#include "unit/arena-envelope-private.h"

#define PATIENCE_US (10 * G_USEC_PER_SEC)

ArenaBackend *
arena_test_pool_new (gsize segment_size,
                     guint count)
{
  g_autoptr(GError) error = NULL;
  ArenaPool *pool = arena_pool_new (segment_size, count, &error);

  g_assert_no_error (error);
  return ARENA_BACKEND (pool);
}

ArenaBackend *
arena_test_any_pool_new (gsize segment_size,
                         guint count)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) segment_size,
                                       "count", count, "reuse", ARENA_REUSE_ANY, NULL);

  g_assert_no_error (error);
  return pool;
}

ArenaBackend *
arena_test_spilling_new (gboolean ring,
                         gsize    size)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *backend =
    ring ? g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) size, "oversize", ARENA_OVERSIZE_SPILL, NULL)
         : g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) size, "count", 2, "oversize",
                           ARENA_OVERSIZE_SPILL, NULL);

  g_assert_no_error (error);
  return backend;
}

ArenaBackend *
arena_test_ring_new (gsize capacity)
{
  g_autoptr(GError) error = NULL;
  ArenaRing *ring = arena_ring_new (capacity, &error);

  g_assert_no_error (error);
  return ARENA_BACKEND (ring);
}

ArenaConsumer *
arena_test_consumer_new (ArenaBackend *backend,
                         guint         buffer_size)
{
  g_autoptr(ArenaBackend) owned = backend;
  g_autoptr(GError) error = NULL;
  ArenaConsumer *consumer = arena_consumer_new (owned, buffer_size, &error);

  /* The first error makes words and a lock inside GLib, into which ThreadSanitizer can't see. */
  g_error_free (g_error_new_literal (ARENA_ERROR, ARENA_ERROR_BUSY, "the first"));
  g_assert_no_error (error);
  g_assert_nonnull (consumer);
  return consumer;
}

static int
dup_worker_fd (ArenaConsumer *consumer)
{
  g_autoptr(GError) error = NULL;
  int fd = arena_consumer_dup_worker_fd (consumer, &error);

  g_assert_no_error (error);
  return fd;
}

ArenaProducer *
arena_test_producer_new (ArenaConsumer *consumer)
{
  g_autoptr(GError) error = NULL;
  ArenaProducer *producer = arena_producer_new_from_fd (dup_worker_fd (consumer), &error);

  g_assert_no_error (error);
  return producer;
}

typedef struct
{
  int                   fd;
  ArenaTestProducerFunc func;
  gpointer              data;
} Start;

static gpointer
run_producer (gpointer data)
{
  g_autofree Start *start = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaProducer) producer = arena_producer_new_from_fd (start->fd, &error);

  g_assert_no_error (error);
  start->func (producer, start->data);
  return NULL;
}

GThread *
arena_test_start_producer (ArenaConsumer         *consumer,
                           ArenaTestProducerFunc  func,
                           gpointer               data)
{
  Start *start = g_new (Start, 1);

  *start = (Start) { .fd = dup_worker_fd (consumer), .func = func, .data = data };
  return g_thread_new ("producer", run_producer, start);
}

void
arena_test_boundary_open (ArenaTestBoundary *self,
                          ArenaBackend      *backend,
                          guint              buffer_size)
{
  self->consumer = arena_test_consumer_new (backend, buffer_size);
  self->producer = arena_test_producer_new (self->consumer);
}

void
arena_test_boundary_begin (ArenaTestBoundary *self)
{
  g_assert_true (arena_consumer_start (self->consumer, NULL));
  arena_test_wait_iteration (self->producer);
}

void
arena_test_boundary_clear (ArenaTestBoundary *self)
{
  g_clear_object (&self->producer);
  g_clear_object (&self->consumer);
}

static gboolean
fill_unit (ArenaUnitBuilder  *builder,
           guint64            unit,
           gsize              size,
           GError           **error)
{
  const guint64 shape[] = { size };
  g_autofree guint8 *data = g_malloc (MAX (size, 1));

  arena_test_fill_pattern (data, size, unit);
  return arena_unit_builder_append_address (builder, "x", ARENA_DTYPE_UINT8, shape, 1, (guint64) (guintptr) data, size,
                                            NULL, 0, error) >= 0 &&
         arena_unit_builder_set_value (builder, g_variant_new_uint64 (unit), error) &&
         arena_unit_builder_commit (builder, error);
}

gboolean
arena_test_send (ArenaProducer  *producer,
                 gsize           size,
                 gint64          timeout,
                 GError        **error)
{
  guint64 unit = producer->unit;
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, size, timeout, NULL, error);

  if (builder == NULL)
    return FALSE;

  if (fill_unit (builder, unit, size, error))
    return TRUE;

  arena_unit_builder_abort (builder);
  return FALSE;
}

void
arena_test_send_split (ArenaProducer *producer,
                       gsize          size)
{
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, 0, 0, NULL, &error);
  g_autofree guint8 *data = g_malloc (2 * size);

  g_assert_no_error (error);
  arena_test_fill_pattern (data, 2 * size, 1);
  for (guint i = 1; i <= 2; i++)
    {
      arena_unit_builder_append_address (builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { i * size }, 1, (guintptr) data,
                                         i * size, NULL, 0, &error);
      g_assert_no_error (error);
    }
  g_assert_true (arena_unit_builder_commit (builder, NULL));
}

void
arena_test_wait_iteration (ArenaProducer *producer)
{
  g_autoptr(GError) error = NULL;
  guint64 epoch;

  arena_producer_wait_iteration (producer, PATIENCE_US, NULL, &epoch, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (epoch, ==, producer->epoch);
  g_assert_true (producer->running);
}

void
arena_test_send_series (ArenaProducer *producer,
                        gpointer       data)
{
  const ArenaTestSeries *series = data;
  g_autoptr(GError) error = NULL;

  while (arena_producer_wait_iteration (producer, -1, NULL, NULL, &error))
    {
      for (guint i = 0; i < series->n_units; i++)
        if (!arena_test_send (producer, series->size, -1, &error))
          break;

      /* A stop, or the end. */
      if (error != NULL)
        arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
      g_assert_true (arena_producer_finish_iteration (producer, NULL));
    }

  if (error != NULL)
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
}

ArenaUnit *
arena_test_next (ArenaConsumer *consumer)
{
  g_autoptr(GError) error = NULL;
  ArenaUnit *unit = arena_consumer_next (consumer, PATIENCE_US, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (unit);
  return unit;
}

void
arena_test_assert_end (ArenaConsumer *consumer)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = arena_consumer_next (consumer, PATIENCE_US, NULL, &error);

  g_assert_no_error (error);
  g_assert_null (unit);
}

GBytes *
arena_test_dup_bytes (ArenaUnit *unit)
{
  g_autoptr(GError) error = NULL;
  GBytes *bytes = arena_unit_dup_bytes (unit, 0, &error);

  g_assert_no_error (error);
  return bytes;
}

gboolean
arena_test_check_bytes (GBytes  *bytes,
                        guint64  unit)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return arena_test_check_pattern (data, size, unit);
}

void
arena_test_assert_unit (ArenaUnit *unit,
                        gsize      size)
{
  g_autoptr(GBytes) bytes = arena_test_dup_bytes (unit);
  g_autoptr(GVariant) value = arena_unit_dup_value (unit, NULL);

  g_assert_cmpuint (g_bytes_get_size (bytes), ==, size);
  g_assert_cmpuint (g_variant_get_uint64 (value), ==, arena_unit_get_sequence (unit));
  g_assert_true (arena_test_check_bytes (bytes, arena_unit_get_sequence (unit)));
}

typedef struct
{
  ArenaConsumer *consumer;
  guint64        head;
  guint          quiet;
} Pause;

static gboolean
is_pausing (gpointer data)
{
  Pause *self = data;
  const ArenaProducerPage *cp = arena_consumer_get_private (self->consumer)->channel->cp;
  guint64 head = cp != NULL ? atomic_load (&cp->qhead) : 0;

  self->quiet = head > 0 && head == self->head ? self->quiet + 1 : 0;
  self->head = head;
  return self->quiet > 100;
}

guint64
arena_test_wait_for_pause (ArenaConsumer *consumer)
{
  Pause pause = { .consumer = consumer };

  g_assert_true (arena_test_wait_until (is_pausing, &pause, 20000));
  return pause.head;
}

void
arena_test_receive (ArenaConsumer *consumer,
                    guint          n,
                    gsize          size)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

      arena_test_assert_unit (unit, size);
    }
}

void
arena_test_close (ArenaConsumer *consumer,
                  GThread       *producer)
{
  g_autoptr(GError) error = NULL;

  arena_consumer_close (consumer, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_finalize_object (consumer);
  if (producer != NULL)
    g_thread_join (producer);
}

typedef struct
{
  GCancellable *cancellable;
  guint         after_ms;
} Cancelling;

static gpointer
run_canceller (gpointer data)
{
  g_autofree Cancelling *self = data;

  g_usleep (self->after_ms * 1000);
  g_cancellable_cancel (self->cancellable);
  return NULL;
}

GThread *
arena_test_cancel_later (GCancellable *cancellable,
                         guint         after_ms)
{
  Cancelling *self = g_new (Cancelling, 1);

  /* Its descriptor is there before the thread is: ThreadSanitizer can't see into GLib's locks. */
  g_cancellable_get_fd (cancellable);
  *self = (Cancelling) { cancellable, after_ms };
  return g_thread_new ("cancel", run_canceller, self);
}

void
arena_test_join_canceller (GThread      *thread,
                           GCancellable *cancellable)
{
  g_thread_join (thread);
  g_cancellable_release_fd (cancellable);
}

void
arena_test_peer_init (ArenaTestPeer *self,
                      ArenaConsumer *consumer)
{
  g_autoptr(GError) error = NULL;
  int data_fd;

  self->channel = arena_channel_attach (dup_worker_fd (consumer), &data_fd, &error);
  g_assert_no_error (error);
  close (data_fd);
  g_assert_true (arena_channel_answer (self->channel, NULL));
  arena_queue_out_init (&self->queue, self->channel);
}

void
arena_test_peer_publish (ArenaTestPeer *self,
                         ArenaSlot      slot)
{
  ArenaEnvelopeEncoder encoder;

  if (slot.kind == ARENA_SLOT_UNIT && slot.envelope_size == 0)
    {
      arena_envelope_encoder_init (&encoder);
      arena_envelope_encoder_begin (&encoder, arena_queue_out_envelope (&self->queue),
                                    self->channel->geometry.envelope_size);
      slot.envelope_size = (guint32) arena_envelope_encoder_finish (&encoder);
      arena_envelope_encoder_clear (&encoder);
    }

  arena_queue_out_publish (&self->queue, &slot);
}

void
arena_test_peer_clear (ArenaTestPeer *self)
{
  g_clear_pointer (&self->channel, arena_channel_unref);
}
