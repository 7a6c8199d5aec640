/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* C34, F136: what is kept from earlier iterations never changes, in 20 of them, left early or read to the end. */

#define COUNT  8
#define KEEP   2
#define EPOCHS 20
#define SIZE   16384

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  ArenaTestSeries series = { .n_units = 8, .size = SIZE };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaUnit *kept[KEEP] = { NULL };
  guint n_received = 0;

  for (guint epoch = 1; epoch <= EPOCHS; epoch++)
    {
      guint n = epoch % 3 == 0 ? 5 : 8;

      g_assert_true (arena_consumer_start (consumer, NULL));
      for (guint i = 0; i < n; i++)
        {
          ArenaUnit *unit = arena_test_next (consumer);

          g_assert_cmpuint (arena_unit_get_epoch (unit), ==, epoch);
          arena_test_assert_unit (unit, SIZE);
          /* The oldest goes, or an in-order pool would stop. */
          g_clear_object (&kept[n_received % KEEP]);
          kept[n_received++ % KEEP] = unit;
          for (guint k = 0; k < MIN (n_received, KEEP); k++)
            arena_test_assert_unit (kept[k], SIZE);
        }
      if (n == 8)
        arena_test_assert_end (consumer);
    }

  arena_test_close (consumer, producer);
  for (guint k = 0; k < KEEP; k++)
    {
      arena_test_assert_unit (kept[k], SIZE);
      g_object_unref (kept[k]);
    }
}

static void
test_pool (void)
{
  run (arena_test_pool_new (SIZE, COUNT));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (4 * SIZE));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/twenty-epochs/pool", test_pool);
  arena_test_add ("/arena/boundary/twenty-epochs/ring", test_ring);
  return g_test_run ();
}
