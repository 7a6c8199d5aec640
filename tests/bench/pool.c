/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-figures.h"
#include "bench-lane.h"
#include "bench-payload.h"

#include "memory/arena-copy-policy-private.h"

/* What the pool itself costs. Ours: units through the core alone (bench-lane.h, the layer of core_64b_over_spsc), into a
 * pool of 5 segments of just that size, three of them queued at most. The base: the producer's process copies the same
 * sources into the same 5 segments in turn, by the same routine, which learns by itself which stores are faster, while
 * nobody else does anything. The same through the public API, with its objects for every unit, is in public.c.
 *
 * One source that is copied again and again is in the second-level cache by then, and at 64 KiB so is all else: the base
 * is then faster than any program's data. For the "cold" figure both copy from 128 MiB in turn, as a producer does whose
 * batches were just read or decoded. */

#define N_SEGMENTS  5
#define BUFFER_SIZE 3
#define COLD_BYTES  (128 << 20)

typedef struct
{
  const char *key;
  gsize       size;
  BenchUse    use;
  guint64     n_units;
} Case;

static const Case hot_cases[] = {
  { "pool_4m_over_memcpy", 4 << 20, BENCH_GLANCE, 250 },
  { "pool_64k_over_memcpy", 64 << 10, BENCH_GLANCE, 30000 },
  { "pool_1m_reading_over_memcpy", 1 << 20, BENCH_READ, 1000 },
};

static const Case cold_case = { "pool_64k_cold_over_memcpy", 64 << 10, BENCH_GLANCE, 12000 };

static void
measure_case (const Case *c,
              const char *figure)
{
  guint64 n_units = bench_scale (c->n_units);
  BenchSeries series;
  BenchLane lane;

  bench_lane_open (&lane, c->size, N_SEGMENTS, BUFFER_SIZE, figure, NULL, 0);
  bench_lane_receive (&lane, 4 * N_SEGMENTS, BENCH_READ);

  bench_series_init (&series, c->key, BENCH_SPEED);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = bench_lane_receive (&lane, n_units, c->use);

      bench_peer_order (&lane.peer, BENCH_BASE, n_units);
      bench_series_add (&series, ours, (double) bench_peer_await (&lane.peer) / (double) n_units);
    }

  bench_series_print (&series);
  bench_lane_close (&lane);
}

static void
measure (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (hot_cases); i++)
    measure_case (&hot_cases[i], bench_pool.name);
}

static void
measure_cold (void)
{
  measure_case (&cold_case, bench_cold.name);
}

static gint64
copy_only (BenchLaneSender *sender,
           ArenaCopyPolicy *policy,
           guint64          n_units)
{
  guint8 *base = arena_mapping_get_data (sender->storage->data);
  guint64 stride = sender->queue.channel->geometry.stride;
  gint64 start = bench_now ();
  gpointer slot = base;
  gint64 elapsed;

  arena_copy_policy_restart (policy);
  for (guint64 i = 0; i < n_units; i++)
    {
      slot = base + i % N_SEGMENTS * stride;
      arena_copy_policy_copy (policy, slot, bench_lane_sender_source (sender, i), sender->size);
      arena_copy_policy_end_unit (policy);
    }

  elapsed = bench_now () - start;
  bench_payload_check (slot, sender->size, n_units - 1);
  return elapsed;
}

static void
work_with (gsize size,
           guint n_sources)
{
  BenchLaneSender sender;
  ArenaCopyPolicy policy;
  BenchOrder order;

  bench_lane_sender_init (&sender, size, n_sources);
  arena_copy_policy_init (&policy, N_SEGMENTS * size, 4);
  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      bench_work_reply (copy_only (&sender, &policy, order.n_units));
    else
      bench_lane_sender_send (&sender, order.n_units);
  bench_lane_sender_clear (&sender);
}

static void
work (gsize size)
{
  work_with (size, 1);
}

static void
work_cold (gsize size)
{
  work_with (size, (guint) (COLD_BYTES / size));
}

const BenchFigure bench_pool = {
  .name = "pool",
  .measure = measure,
  .work = work,
  .keys = { "pool_4m_over_memcpy", "pool_64k_over_memcpy", "pool_1m_reading_over_memcpy" },
};

const BenchFigure bench_cold = {
  .name = "cold",
  .measure = measure_cold,
  .work = work_cold,
  .keys = { "pool_64k_cold_over_memcpy" },
};
