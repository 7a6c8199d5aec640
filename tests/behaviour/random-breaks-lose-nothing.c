/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F86, F129, H11: iterations that are left anywhere, in any way, never show in the next: it has all its units, in order,
 * with their own bytes. */

#define UNITS 12
#define SIZE  8192

static void
begin (ArenaConsumer *consumer,
       GRand         *random)
{
  g_autoptr(GError) error = NULL;

  switch (g_rand_int_range (random, 0, 3))
    {
    case 0:
      g_assert_true (arena_consumer_stop (consumer, -1, NULL, NULL));
      break;
    case 1:
      if (!arena_consumer_stop (consumer, 0, NULL, &error))
        arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
      break;
    default:
      break;
    }

  g_assert_true (arena_consumer_start (consumer, NULL));
}

static void
run (ArenaBackend *backend)
{
  g_autoptr(GRand) random = g_rand_new_with_seed (20260101);
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 3);
  ArenaTestSeries series = { .n_units = UNITS, .size = SIZE };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  guint64 epoch = 0;
  guint64 last = 0;

  for (guint k = 0; k < 150; k++)
    {
      guint n = (guint) g_rand_int_range (random, 0, UNITS + 1);

      begin (consumer, random);
      for (guint i = 0; i < n; i++)
        {
          g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

          /* A start before the last one's first next() counts once. */
          g_assert_true (i == 0 ? arena_unit_get_epoch (unit) > epoch : arena_unit_get_epoch (unit) == epoch);
          epoch = arena_unit_get_epoch (unit);
          g_assert_true (i == 0 || arena_unit_get_sequence (unit) == last + 1);
          last = arena_unit_get_sequence (unit);
          arena_test_assert_unit (unit, SIZE);
        }
      if (n == UNITS)
        arena_test_assert_end (consumer);
    }

  arena_test_close (consumer, producer);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (SIZE, 4));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (3 * SIZE));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/random-breaks/pool", test_pool);
  arena_test_add ("/arena/boundary/random-breaks/ring", test_ring);
  return g_test_run ();
}
