/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-channel.h"
#include "bench-figures.h"
#include "bench-spsc.h"

#include "boundary/arena-queue-private.h"
#include "sync/arena-spin-private.h"

#include <unistd.h>

/* Ours: 64 bytes as the envelope of a unit without storage, through the library's own queue and nothing above it; the
 * consumer gets the checked copy of descriptor and envelope, in memory of its own that it frees. So 128 bytes cross, and
 * one allocation is made. The base: the 64 bytes through bench-spsc.h, with as many slots. Both sides of both look again
 * and again where they have to wait. */

#define ENVELOPE BENCH_SPSC_SLOT

typedef struct
{
  const char *key;
  gsize       n_slots;
} Case;

static const Case cases[] = {
  { "core_64b_over_spsc", 4 },
  { "core_64b_1024_over_spsc", 1024 },
};

static void
check (const guint64 *words,
       guint64        number)
{
  if (G_UNLIKELY (words[0] != number || words[ENVELOPE / 8 - 1] != ~number))
    bench_fail ("unit %" G_GUINT64_FORMAT " is wrong", number);
}

static double
receive_ours (ArenaQueueIn *queue,
              BenchPeer    *peer,
              guint64       n_units)
{
  g_autoptr (GError) error = NULL;
  gint64 start;

  bench_peer_order (peer, BENCH_OURS, n_units);
  for (guint64 i = 0; i < n_units; i++)
    {
      guint8 *envelope = NULL;
      ArenaSlot slot;

      while (!arena_queue_in_has_slot (queue, &error) && error == NULL)
        arena_cpu_relax ();
      if (error != NULL || !arena_queue_in_take (queue, &slot, &envelope, &error))
        bench_check_error (error, "queue");
      check ((const guint64 *) (const void *) envelope, i);
      g_free (envelope);
    }

  start = bench_peer_await (peer);
  return (double) (bench_now () - start) / (double) n_units;
}

static double
receive_base (BenchSpscEnd *end,
              BenchPeer    *peer,
              guint64       n_units)
{
  guint64 slot[BENCH_SPSC_SLOT / 8];
  gboolean wake = FALSE;
  gint64 start;

  bench_peer_order (peer, BENCH_BASE, n_units);
  for (guint64 i = 0; i < n_units; i++)
    {
      while (!bench_spsc_pop (end, slot, &wake))
        arena_cpu_relax ();
      check (slot, i);
      if (G_UNLIKELY (wake))
        bench_fail ("nobody sleeps here");
    }

  start = bench_peer_await (peer);
  return (double) (bench_now () - start) / (double) n_units;
}

static void
measure_case (const Case *c)
{
  int fd = bench_spsc_new (c->n_slots);
  BenchSpscEnd end = bench_spsc_map (fd, c->n_slots);
  guint64 n_units = bench_scale (1500000);
  ArenaChannel *channel;
  ArenaQueueIn queue;
  BenchSeries series;
  BenchPeer peer;

  channel = bench_channel_open (NULL, -1, c->n_slots, ENVELOPE, &peer, "core", c->n_slots, &fd, 1);
  close (fd);
  arena_queue_in_init (&queue, channel);
  receive_ours (&queue, &peer, 10000);
  receive_base (&end, &peer, 10000);

  bench_series_init (&series, c->key, BENCH_TIME);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = receive_ours (&queue, &peer, n_units);
      double base = receive_base (&end, &peer, n_units);

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_peer_stop (&peer);
  arena_channel_unref (channel);
}

static void
measure (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    measure_case (&cases[i]);
}

static void
send_ours (ArenaQueueOut *queue,
           guint64        n_units)
{
  g_autoptr (GError) error = NULL;
  guint64 payload[ENVELOPE / 8] = { 0 };
  gint64 start = bench_now ();

  for (guint64 i = 0; i < n_units; i++)
    {
      const ArenaSlot slot = { .unit = i, .epoch = 1, .envelope_size = ENVELOPE, .kind = ARENA_SLOT_UNIT };

      while (!arena_queue_out_has_room (queue, &error) && error == NULL)
        arena_cpu_relax ();
      bench_check_error (error, "queue");
      payload[0] = i;
      payload[ENVELOPE / 8 - 1] = ~i;
      memcpy (arena_queue_out_envelope (queue), payload, ENVELOPE);
      arena_queue_out_publish (queue, &slot);
    }

  bench_work_reply (start);
}

static void
send_base (BenchSpscEnd *end,
           guint64       n_units)
{
  guint64 payload[ENVELOPE / 8] = { 0 };
  gint64 start = bench_now ();
  gboolean wake = FALSE;

  for (guint64 i = 0; i < n_units; i++)
    {
      payload[0] = i;
      payload[ENVELOPE / 8 - 1] = ~i;
      while (!bench_spsc_push (end, payload, &wake))
        arena_cpu_relax ();
      if (G_UNLIKELY (wake))
        bench_fail ("nobody sleeps here");
    }

  bench_work_reply (start);
}

static void
work (gsize n_slots)
{
  BenchSpscEnd end = bench_spsc_map (bench_work_fd (1), n_slots);
  int data_fd;
  ArenaChannel *channel = bench_channel_attach (&data_fd);
  ArenaQueueOut queue;
  BenchOrder order;

  arena_queue_out_init (&queue, channel);
  bench_channel_answer (channel);
  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      send_base (&end, order.n_units);
    else
      send_ours (&queue, order.n_units);
  arena_channel_unref (channel);
}

const BenchFigure bench_core = {
  .name = "core",
  .measure = measure,
  .work = work,
  .keys = { "core_64b_over_spsc", "core_64b_1024_over_spsc" },
};
