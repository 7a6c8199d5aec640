/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-boundary.h"
#include "bench-figures.h"

/* Units of one 64-byte field through the public API: ArenaProducer and its builder, ArenaConsumer, one ArenaUnit and one
 * GBytes each. They live in the envelope and take no storage. 64 may be queued. */

#define SIZE        64
#define BUFFER_SIZE 64

static void
measure (void)
{
  guint64 n_units = bench_scale (60000);
  g_autoptr (GError) error = NULL;
  BenchBoundary boundary;
  BenchSeries series;
  ArenaPool *pool;

  pool = arena_pool_new (4096, BUFFER_SIZE + 2, &error);
  bench_check_error (error, "arena_pool_new");
  bench_boundary_open (&boundary, ARENA_BACKEND (pool), BUFFER_SIZE, "unit", SIZE, NULL, 0);
  bench_boundary_receive (&boundary, BENCH_OURS, n_units / 4, BENCH_GLANCE);

  bench_series_init (&series, "unit_64b_public_ns", BENCH_ALONE);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    bench_series_add (&series, bench_boundary_receive (&boundary, BENCH_OURS, n_units, BENCH_GLANCE), 0);

  bench_series_print (&series);
  bench_boundary_close (&boundary);
}

static void
work (gsize size)
{
  BenchSender sender;
  BenchOrder order;

  bench_sender_init (&sender, size);
  while (bench_work_next (&order))
    bench_sender_send (&sender, &order);
  bench_sender_clear (&sender);
}

const BenchFigure bench_unit = {
  .name = "unit",
  .measure = measure,
  .work = work,
  .keys = { "unit_64b_public_ns" },
};
