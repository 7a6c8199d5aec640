/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-channel.h"
#include "bench-figures.h"
#include "bench-payload.h"
#include "bench-unix.h"

#include "backend/arena-pool-private.h"
#include "boundary/arena-queue-private.h"
#include "sync/arena-spin-private.h"

#include <stdlib.h>
#include <unistd.h>

/* Ours: units of 4 KiB through a pool of 64 segments by the core alone: the pool's writer, the queue, the pool's reader;
 * no envelope, no ArenaUnit, no GBytes per unit, and both sides look again and again where they have to wait. It is what a
 * binding's packed call could reach. The base: bench-unix.h. */

#define SIZE       4096
#define N_SEGMENTS 64

static double
receive_ours (ArenaQueueIn    *queue,
              ArenaPoolReader *reader,
              BenchPeer       *peer,
              guint64          n_units)
{
  g_autoptr (GError) error = NULL;
  gconstpointer data = NULL;
  gint64 end = 0;

  bench_peer_order (peer, BENCH_OURS, n_units);
  for (guint64 i = 0; i < n_units; i++)
    {
      guint8 *envelope = NULL;
      ArenaSlot slot;

      while (!arena_queue_in_has_slot (queue, &error) && error == NULL)
        arena_cpu_relax ();
      if (error != NULL || !arena_queue_in_take (queue, &slot, &envelope, &error) ||
          !arena_pool_reader_receive (reader, slot.span, &error))
        bench_check_error (error, "receiving");
      data = arena_pool_reader_locate (reader, slot.offset, (gsize) slot.size, &error);
      bench_check_error (error, "arena_pool_reader_locate");
      if (i % 16 == 0)
        bench_payload_sample (data, SIZE, i);

      /* The last one is still to be checked. */
      if (i + 1 == n_units)
        {
          end = bench_now ();
          bench_payload_check (data, SIZE, i);
        }
      arena_pool_reader_release (ARENA_READER (reader), slot.span, &error);
      bench_check_error (error, "arena_pool_reader_release");
    }

  return (double) (end - bench_peer_await (peer)) / (double) n_units;
}

static void
measure (void)
{
  guint64 *buffer = bench_payload_new (SIZE);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaPool) pool = arena_pool_new (SIZE, N_SEGMENTS, &error);
  ArenaStorage *storage;
  ArenaReader *reader;
  ArenaQueueIn queue;
  BenchSeries series;
  BenchPeer peer;
  int sockets[2];

  bench_check_error (error, "arena_pool_new");
  storage = arena_pool_peek_storage (pool);
  reader = arena_storage_open_reader (storage, &error);
  bench_check_error (error, "arena_storage_open_reader");
  bench_unix_pair (sockets);
  bench_channel_open (storage->channel, storage->data_fd, N_SEGMENTS, 64, &peer, "small", SIZE, &sockets[1], 1);
  close (sockets[1]);
  arena_queue_in_init (&queue, storage->channel);
  receive_ours (&queue, ARENA_POOL_READER (reader), &peer, 10000);

  bench_series_init (&series, "pool_4k_over_unix_stream", BENCH_SPEED);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = receive_ours (&queue, ARENA_POOL_READER (reader), &peer, bench_scale (300000));
      double base = bench_unix_receive (sockets[0], &peer, buffer, SIZE, bench_scale (15000));

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_peer_stop (&peer);
  g_object_unref (reader);
  close (sockets[0]);
  free (buffer);
}

static void
send_ours (ArenaQueueOut *queue,
           ArenaWriter   *writer,
           guint64       *source,
           guint64        n_units)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (source, SIZE);
  g_autoptr (GError) error = NULL;
  gint64 start = bench_now ();

  for (guint64 i = 0; i < n_units; i++)
    {
      ArenaSlot slot = { .unit = i, .epoch = 1, .size = SIZE, .kind = ARENA_SLOT_UNIT };

      while (!arena_queue_out_has_room (queue, &error) && error == NULL)
        arena_cpu_relax ();
      bench_check_error (error, "queue");
      bench_payload_stamp (source, SIZE, i);
      if (!arena_writer_begin_unit (writer, SIZE, -1, NULL, &error) ||
          !arena_writer_write (writer, bytes, &slot.offset, &error) ||
          !arena_writer_commit_unit (writer, &slot.span, &error))
        bench_check_error (error, "writing");
      slot.index = (guint32) (slot.offset / queue->channel->geometry.stride);
      arena_queue_out_publish (queue, &slot);
    }

  bench_work_reply (start);
}

static void
work (gsize size)
{
  guint64 *source = bench_payload_new (size);
  g_autoptr (ArenaStorage) storage = NULL;
  g_autoptr (ArenaWriter) writer = NULL;
  g_autoptr (GError) error = NULL;
  int data_fd;
  ArenaChannel *channel = bench_channel_attach (&data_fd);
  ArenaQueueOut queue;
  BenchOrder order;

  storage = arena_storage_new_attached (channel, data_fd, &error);
  bench_check_error (error, "arena_storage_new_attached");
  writer = arena_storage_open_writer (storage, &error);
  bench_check_error (error, "arena_storage_open_writer");
  arena_writer_start_epoch (writer, 1, &error);
  bench_check_error (error, "arena_writer_start_epoch");
  arena_queue_out_init (&queue, channel);
  bench_channel_answer (channel);

  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      bench_unix_send (bench_work_fd (1), source, size, order.n_units);
    else
      send_ours (&queue, writer, source, order.n_units);
  free (source);
}

const BenchFigure bench_small = {
  .name = "small",
  .measure = measure,
  .work = work,
  .keys = { "pool_4k_over_unix_stream" },
};
