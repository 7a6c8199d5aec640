/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-boundary.h"
#include "bench-figures.h"
#include "bench-payload.h"
#include "bench-unix.h"

#include <stdlib.h>
#include <unistd.h>

/* Ours: units of one field through the public API and a pool, not read by the consumer (a stream's receiver has its bytes
 * in a buffer of its own and has not read them either). The base: bench-unix.h. */

typedef struct
{
  const char *key;
  gsize       size;
  guint       n_segments;
  guint       buffer_size;
  guint64     n_ours;
  guint64     n_base;
} Case;

static const Case cases[] = {
  { "pool_4k_public_over_unix_stream", 4 << 10, 64, 62, 60000, 15000 },
  { "pool_4m_over_unix_stream", 4 << 20, 5, 3, 250, 60 },
};

static void
measure_case (const Case *c)
{
  guint64 *buffer = bench_payload_new (c->size);
  g_autoptr (GError) error = NULL;
  BenchBoundary boundary;
  BenchSeries series;
  int sockets[2];
  ArenaPool *pool;

  pool = arena_pool_new (c->size, c->n_segments, &error);
  bench_check_error (error, "arena_pool_new");
  bench_unix_pair (sockets);
  bench_boundary_open (&boundary, ARENA_BACKEND (pool), c->buffer_size, "stream", c->size, &sockets[1], 1);
  close (sockets[1]);
  bench_boundary_receive (&boundary, BENCH_OURS, 2 * c->n_segments, BENCH_READ);

  bench_series_init (&series, c->key, BENCH_SPEED);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = bench_boundary_receive (&boundary, BENCH_OURS, bench_scale (c->n_ours), BENCH_GLANCE);
      double base = bench_unix_receive (sockets[0], &boundary.peer, buffer, c->size, bench_scale (c->n_base));

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_boundary_close (&boundary);
  close (sockets[0]);
  free (buffer);
}

static void
measure (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    measure_case (&cases[i]);
}

static void
work (gsize size)
{
  BenchSender sender;
  BenchOrder order;

  bench_sender_init (&sender, size);
  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      bench_unix_send (bench_work_fd (1), sender.source, size, order.n_units);
    else
      bench_sender_send (&sender, &order);
  bench_sender_clear (&sender);
}

const BenchFigure bench_stream = {
  .name = "stream",
  .measure = measure,
  .work = work,
  .keys = { "pool_4k_public_over_unix_stream", "pool_4m_over_unix_stream" },
};
