/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-boundary.h"
#include "bench-figures.h"
#include "bench-payload.h"

#include "memory/arena-copy-policy-private.h"

#include <stdlib.h>

/* Ours: units of 4 MiB through the public API and a ring that holds 5 of them; the consumer gets copies, made on its own
 * CPU, and drops each at once. The base: one process copies the source into the same 5 places of the ring in turn and from
 * there into one buffer, by the same routine, which learns by itself which stores are faster, as a program would that had
 * only one CPU for it. */

#define SIZE        (4 << 20)
#define N_UNITS     5
#define CAPACITY    (N_UNITS * SIZE)
#define BUFFER_SIZE 3

static void
measure (void)
{
  guint64 n_units = bench_scale (200);
  g_autoptr (GError) error = NULL;
  BenchBoundary boundary;
  BenchSeries series;
  ArenaRing *ring;

  ring = arena_ring_new (CAPACITY, &error);
  bench_check_error (error, "arena_ring_new");
  bench_boundary_open (&boundary, ARENA_BACKEND (ring), BUFFER_SIZE, "ring", SIZE, NULL, 0);
  bench_boundary_receive (&boundary, BENCH_WARM, N_UNITS, BENCH_READ);

  bench_series_init (&series, "ring_4m_over_two_memcpy", BENCH_SPEED);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = bench_boundary_receive (&boundary, BENCH_OURS, n_units, BENCH_GLANCE);
      double base = bench_boundary_base (&boundary, n_units);

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_boundary_close (&boundary);
}

static gint64
copy_twice (BenchSender     *sender,
            ArenaCopyPolicy *policies,
            guint64         *output,
            guint64          n_units)
{
  gint64 start = bench_now ();
  gint64 elapsed;

  arena_copy_policy_restart (&policies[0]);
  arena_copy_policy_restart (&policies[1]);
  for (guint64 i = 0; i < n_units; i++)
    {
      gpointer slot = sender->slots->pdata[i % sender->slots->len];

      bench_payload_stamp (sender->source, SIZE, i);
      arena_copy_policy_copy (&policies[0], slot, sender->source, SIZE);
      arena_copy_policy_end_unit (&policies[0]);
      arena_copy_policy_copy (&policies[1], output, slot, SIZE);
      arena_copy_policy_end_unit (&policies[1]);
    }

  elapsed = bench_now () - start;
  bench_payload_check (output, SIZE, n_units - 1);
  return elapsed;
}

static void
work (gsize size)
{
  guint64 *output = bench_payload_new (size);
  BenchSender sender;
  ArenaCopyPolicy policies[2];
  BenchOrder order;

  bench_sender_init (&sender, size);
  arena_copy_policy_init (&policies[0], CAPACITY, 4);
  arena_copy_policy_init (&policies[1], CAPACITY, 12);
  while (bench_work_next (&order))
    if (order.command == BENCH_BASE)
      bench_work_reply (copy_twice (&sender, policies, output, order.n_units));
    else
      bench_sender_send (&sender, &order);
  bench_sender_clear (&sender);
  free (output);
}

const BenchFigure bench_ring = {
  .name = "ring",
  .measure = measure,
  .work = work,
  .keys = { "ring_4m_over_two_memcpy" },
};
