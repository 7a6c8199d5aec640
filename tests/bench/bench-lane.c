/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-lane.h"

#include "bench-channel.h"
#include "bench-payload.h"

#include "sync/arena-spin-private.h"

#include <sched.h>
#include <stdlib.h>

#define ENVELOPE     64
#define SAMPLE_EVERY 16
#define YIELD_EVERY  1000

/* Looks again and again, but where other programs want the CPU it is no use to burn its share of it in a wait. */
static void
pause_once (guint *n)
{
  arena_cpu_relax ();
  if (++*n % YIELD_EVERY == 0)
    sched_yield ();
}

void
bench_lane_open (BenchLane  *self,
                 gsize       size,
                 guint       n_segments,
                 guint       queue_size,
                 const char *figure,
                 const int  *fds,
                 guint       n_fds)
{
  g_autoptr (GError) error = NULL;
  ArenaStorage *storage;

  self->size = size;
  self->pool = arena_pool_new (size, n_segments, &error);
  bench_check_error (error, "arena_pool_new");
  storage = arena_pool_peek_storage (self->pool);
  self->reader = ARENA_POOL_READER (arena_storage_open_reader (storage, &error));
  bench_check_error (error, "arena_storage_open_reader");
  bench_channel_open (storage->channel, storage->data_fd, queue_size, ENVELOPE, &self->peer, figure, size, fds, n_fds);
  arena_queue_in_init (&self->queue, storage->channel);
}

/* The next unit's bytes; its descriptor in @slot. */
static gconstpointer
receive (BenchLane *self,
         ArenaSlot *slot)
{
  g_autoptr (GError) error = NULL;
  gconstpointer data = NULL;
  guint64 index;
  guint8 *envelope;
  guint n = 0;

  while (!arena_queue_in_has_slot (&self->queue, &error) && error == NULL)
    pause_once (&n);
  if (error == NULL && arena_queue_in_take (&self->queue, slot, &envelope, &error) &&
      arena_pool_reader_receive (self->reader, slot->span, &index, &error))
    data = arena_pool_reader_locate (self->reader, slot->offset, (gsize) slot->size, &error);
  bench_check_error (error, "receiving");
  return data;
}

double
bench_lane_receive (BenchLane *self,
                    guint64    n_units,
                    BenchUse   use)
{
  g_autoptr (GError) error = NULL;
  guint64 sum = 0;
  gint64 end = 0;

  bench_peer_order (&self->peer, BENCH_OURS, n_units);
  for (guint64 i = 0; i < n_units; i++)
    {
      ArenaSlot slot;
      gconstpointer data = receive (self, &slot);

      if (use == BENCH_READ)
        sum += bench_payload_sum (data, self->size);
      if (i + 1 == n_units)
        {
          end = bench_now ();
          bench_payload_check (data, self->size, i);
        }
      else if (i % SAMPLE_EVERY == 0)
        bench_payload_sample (data, self->size, i);
      arena_pool_reader_release (ARENA_READER (self->reader), slot.index, &error);
      bench_check_error (error, "arena_pool_reader_release");
    }

  /* The sum has to be used, or it is not made. */
  return (double) (end - bench_peer_await (&self->peer) - (sum == 1)) / (double) (n_units - bench_warm_up (n_units));
}

void
bench_lane_close (BenchLane *self)
{
  bench_peer_stop (&self->peer);
  g_clear_object (&self->reader);
  g_clear_object (&self->pool);
}

void
bench_lane_sender_init (BenchLaneSender *self,
                        gsize            size,
                        guint            n_sources)
{
  g_autoptr (GError) error = NULL;
  int data_fd;
  ArenaChannel *channel = bench_channel_attach (&data_fd);

  self->storage = arena_storage_new_attached (channel, data_fd, &error);
  bench_check_error (error, "arena_storage_new_attached");
  self->writer = arena_storage_open_writer (self->storage, &error);
  bench_check_error (error, "arena_storage_open_writer");
  arena_writer_start_epoch (self->writer, 1, &error);
  bench_check_error (error, "arena_writer_start_epoch");
  arena_writer_calls_init (&self->calls, self->writer);
  arena_queue_out_init (&self->queue, channel);
  bench_channel_answer (channel);

  self->size = size;
  self->n_sources = n_sources;
  self->sources = g_new (guint64 *, n_sources);
  for (guint i = 0; i < n_sources; i++)
    self->sources[i] = bench_payload_new (size);
}

guint64 *
bench_lane_sender_source (BenchLaneSender *self,
                          guint64          number)
{
  guint64 *source = self->sources[number % self->n_sources];

  bench_payload_stamp (source, self->size, number);
  return source;
}

static void
send_unit (BenchLaneSender *self,
           guint64          number)
{
  ArenaSlot slot = { .unit = number, .epoch = 1, .size = self->size, .kind = ARENA_SLOT_UNIT };
  g_autoptr (GError) error = NULL;
  guint n = 0;

  while (!arena_queue_out_has_room (&self->queue, &error) && error == NULL)
    pause_once (&n);
  bench_check_error (error, "queue");
  arena_queue_out_prefetch (&self->queue);
  if (!arena_writer_calls_begin_unit (&self->calls, self->size, -1, NULL, &error) ||
      !arena_writer_calls_write (&self->calls, NULL, bench_lane_sender_source (self, number), self->size, &slot.offset,
                                 &error) ||
      !arena_writer_calls_commit_unit (&self->calls, &slot.span, &error))
    bench_check_error (error, "writing");
  slot.index = (guint32) (slot.offset / self->queue.channel->geometry.stride);
  arena_queue_out_publish (&self->queue, &slot);
}

void
bench_lane_sender_send (BenchLaneSender *self,
                        guint64          n_units)
{
  guint64 warm_up = bench_warm_up (n_units);
  gint64 start = 0;

  for (guint64 i = 0; i < n_units; i++)
    {
      if (i == warm_up)
        start = bench_now ();
      send_unit (self, i);
    }

  bench_work_reply (start);
}

void
bench_lane_sender_clear (BenchLaneSender *self)
{
  for (guint i = 0; i < self->n_sources; i++)
    free (self->sources[i]);
  g_free (self->sources);
  g_clear_object (&self->writer);
  g_clear_pointer (&self->storage, arena_storage_unref);
}
