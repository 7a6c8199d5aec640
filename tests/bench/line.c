/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-figures.h"
#include "bench-spsc.h"

#include <unistd.h>

/* What it takes one word to get from one CPU to the other, both looking all the time. Whatever crosses pays it, and on a
 * virtual machine it changes by a factor of five as the host moves the CPUs, between sharing a cache and not: compare runs
 * only where it is about the same. Two words of an SPSC that nobody uses as one. */

static double
receive (BenchSpsc *queue,
         BenchPeer *peer,
         guint64    n)
{
  gint64 start = 0;
  gint64 end;

  atomic_store_explicit (&queue->want_tail, 0, memory_order_release);
  bench_peer_order (peer, BENCH_OURS, n);
  for (guint64 i = 1; i <= n; i++)
    {
      while (atomic_load_explicit (&queue->want_head, memory_order_acquire) != i)
        ;
      if (i == 1)
        start = bench_now ();
      atomic_store_explicit (&queue->want_tail, i, memory_order_release);
    }

  end = bench_now ();
  bench_peer_await (peer);
  return (double) (end - start) / (double) (2 * n);
}

static void
measure (void)
{
  int fd = bench_spsc_new (1);
  BenchSpscEnd end = bench_spsc_map (fd, 1);
  BenchSeries series;
  BenchPeer peer;

  bench_peer_start (&peer, "line", 1, &fd, 1);
  close (fd);
  bench_series_init (&series, "line_one_way_ns", BENCH_ALONE);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    bench_series_add (&series, receive (end.queue, &peer, bench_scale (100000)), 0);

  bench_series_print (&series);
  bench_peer_stop (&peer);
}

static void
send (BenchSpsc *queue,
      guint64    n)
{
  for (guint64 i = 1; i <= n; i++)
    {
      atomic_store_explicit (&queue->want_head, i, memory_order_release);
      while (atomic_load_explicit (&queue->want_tail, memory_order_acquire) != i)
        ;
    }
}

static void
work (gsize n_slots)
{
  BenchSpscEnd end = bench_spsc_map (bench_work_fd (0), n_slots);
  BenchOrder order;

  while (bench_work_next (&order))
    {
      send (end.queue, order.n_units);
      bench_work_reply (0);
    }
}

const BenchFigure bench_line = {
  .name = "line",
  .measure = measure,
  .work = work,
  .keys = { "line_one_way_ns" },
};
