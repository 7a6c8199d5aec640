/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F25, F126: one process serves every iteration, and units are counted through all of them. */

static void
run (ArenaBackend *backend)
{
  ArenaWorker *worker = arena_test_worker_new (backend, 2, "units=7", "size=20000", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  gint64 pid = arena_worker_get_pid (worker);

  for (guint epoch = 1; epoch <= 2; epoch++)
    {
      g_assert_true (arena_consumer_start (consumer, NULL));
      for (guint i = 0; i < 7; i++)
        {
          g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

          arena_test_assert_unit (unit, 20000);
          g_assert_cmpuint (arena_unit_get_epoch (unit), ==, epoch);
          g_assert_cmpuint (arena_unit_get_sequence (unit), ==, (epoch - 1) * 7 + i);
        }

      /* The end lasts until the next start. */
      for (guint i = 0; i < 3; i++)
        arena_test_assert_end (consumer);
      g_assert_cmpint (arena_worker_get_pid (worker), ==, pid);
      g_assert_true (arena_test_process_exists (pid));
    }

  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 4));
}

static void
test_any (void)
{
  run (arena_test_any_pool_new (20000, 4));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (80000));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/serves-two-epochs/pool", test_pool);
  arena_test_add ("/arena/worker/serves-two-epochs/any", test_any);
  arena_test_add ("/arena/worker/serves-two-epochs/ring", test_ring);
  return g_test_run ();
}
