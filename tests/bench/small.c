/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-figures.h"
#include "bench-lane.h"
#include "bench-payload.h"
#include "bench-unix.h"

#include <stdlib.h>
#include <unistd.h>

/* Ours: units of 4 KiB through a pool of 64 segments by the core alone, bench-lane.h. The base: bench-unix.h. */

#define SIZE       4096
#define N_SEGMENTS 64

static void
measure (void)
{
  guint64 *buffer = bench_payload_new (SIZE);
  BenchSeries series;
  BenchLane lane;
  int sockets[2];

  bench_unix_pair (sockets);
  bench_lane_open (&lane, SIZE, N_SEGMENTS, N_SEGMENTS, "small", &sockets[1], 1);
  close (sockets[1]);
  bench_lane_receive (&lane, 10000, BENCH_GLANCE);

  bench_series_init (&series, "pool_4k_over_unix_stream", BENCH_SPEED);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = bench_lane_receive (&lane, bench_scale (300000), BENCH_GLANCE);
      double base = bench_unix_receive (sockets[0], &lane.peer, buffer, SIZE, bench_scale (15000));

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_lane_close (&lane);
  close (sockets[0]);
  free (buffer);
}

static void
work (gsize size)
{
  BenchLaneSender sender;
  BenchOrder order;

  bench_lane_sender_init (&sender, size, 1);
  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      bench_unix_send (bench_work_fd (1), sender.sources[0], size, order.n_units);
    else
      bench_lane_sender_send (&sender, order.n_units);
  bench_lane_sender_clear (&sender);
}

const BenchFigure bench_small = {
  .name = "small",
  .measure = measure,
  .work = work,
  .keys = { "pool_4k_over_unix_stream" },
};
