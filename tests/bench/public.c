/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-boundary.h"
#include "bench-figures.h"
#include "bench-payload.h"

#include "memory/arena-copy-policy-private.h"

#include <stdlib.h>

/* Ours: units of one field through the public API, from one source, into a pool of 5 segments of just that size, three of
 * them queued at most. The base is that of pool.c: the producer's process copies the same source into the same 5 segments
 * in turn, by the same routine, while nobody else does anything. */

#define N_SEGMENTS  5
#define BUFFER_SIZE 3

typedef struct
{
  const char *key;
  gsize       size;
  BenchUse    use;
  guint64     n_units;
} Case;

static const Case cases[] = {
  { "pool_4m_public_over_memcpy", 4 << 20, BENCH_GLANCE, 250 },
  { "pool_64k_public_over_memcpy", 64 << 10, BENCH_GLANCE, 30000 },
  { "pool_1m_public_reading_over_memcpy", 1 << 20, BENCH_READ, 1000 },
};

static void
measure_case (const Case *c)
{
  g_autoptr (GError) error = NULL;
  guint64 n_units = bench_scale (c->n_units);
  BenchBoundary boundary;
  BenchSeries series;
  ArenaPool *pool;

  pool = arena_pool_new (c->size, N_SEGMENTS, &error);
  bench_check_error (error, "arena_pool_new");
  bench_boundary_open (&boundary, ARENA_BACKEND (pool), BUFFER_SIZE, "public", c->size, NULL, 0);
  bench_boundary_receive (&boundary, BENCH_WARM, N_SEGMENTS, BENCH_READ);

  bench_series_init (&series, c->key, BENCH_SPEED);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = bench_boundary_receive (&boundary, BENCH_OURS, n_units, c->use);
      double base = bench_boundary_base (&boundary, n_units);

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_boundary_close (&boundary);
}

static void
measure (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    measure_case (&cases[i]);
}

static gint64
copy_only (BenchSender     *sender,
           ArenaCopyPolicy *policy,
           guint64          n_units)
{
  gpointer slot = NULL;
  gint64 start = bench_now ();
  gint64 elapsed;

  arena_copy_policy_restart (policy);
  for (guint64 i = 0; i < n_units; i++)
    {
      slot = sender->slots->pdata[i % sender->slots->len];
      bench_payload_stamp (sender->source, sender->size, i);
      arena_copy_policy_copy (policy, slot, sender->source, sender->size);
      arena_copy_policy_end_unit (policy);
    }

  elapsed = bench_now () - start;
  bench_payload_check (slot, sender->size, n_units - 1);
  return elapsed;
}

static void
work (gsize size)
{
  BenchSender sender;
  ArenaCopyPolicy policy;
  BenchOrder order;

  bench_sender_init (&sender, size);
  arena_copy_policy_init (&policy, N_SEGMENTS * size, 4);
  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      bench_work_reply (copy_only (&sender, &policy, order.n_units));
    else
      bench_sender_send (&sender, &order);
  bench_sender_clear (&sender);
}

const BenchFigure bench_public = {
  .name = "public",
  .measure = measure,
  .work = work,
  .keys = { "pool_4m_public_over_memcpy", "pool_64k_public_over_memcpy", "pool_1m_public_reading_over_memcpy" },
};
