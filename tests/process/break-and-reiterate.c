/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F86, F129: an iteration left early doesn't show in the next, which is complete. */

static void
run (ArenaBackend *backend)
{
  ArenaWorker *worker = arena_test_worker_new (backend, 2, "units=10", "size=20000", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);

  for (guint cycle = 0; cycle < 3; cycle++)
    {
      guint64 epoch;

      g_assert_true (arena_consumer_start (consumer, NULL));
      arena_test_receive (consumer, 3, 20000);

      g_assert_true (arena_consumer_start (consumer, NULL));
      for (guint i = 0; i < 10; i++)
        {
          g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

          arena_test_assert_unit (unit, 20000);
          epoch = arena_unit_get_epoch (unit);
          g_assert_cmpuint (epoch, ==, 2 * cycle + 2);
        }
      arena_test_assert_end (consumer);
    }

  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 4));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (80000));
}

/* A start right after a start, and a stop that is asked for twice. */
static void
test_empty_cycles (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 3), 1, "units=10", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);

  for (guint i = 0; i < 5; i++)
    g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_receive (consumer, 10, 4096);
  arena_test_assert_end (consumer);

  g_assert_true (arena_consumer_start (consumer, NULL));
  for (guint i = 0; i < 2; i++)
    g_assert_true (arena_consumer_stop (consumer, -1, NULL, NULL));
  arena_test_assert_end (consumer);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/break-and-reiterate/pool", test_pool);
  arena_test_add ("/arena/worker/break-and-reiterate/ring", test_ring);
  arena_test_add ("/arena/worker/break-and-reiterate/empty-cycles", test_empty_cycles);
  return g_test_run ();
}
