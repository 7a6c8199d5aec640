/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F01, C83: after the first unit nothing is opened, mapped or kept for another, over 1000 of them. */

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  ArenaTestSeries series = { .n_units = 1001, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaTestResources resources;

  arena_test_receive (consumer, 1, 8192);
  arena_test_resources_begin (&resources);
  arena_test_receive (consumer, 1000, 8192);
  g_assert_cmpuint (arena_test_count_fds (), ==, resources.n_fds);
  g_assert_cmpuint (arena_test_count_mappings (), ==, resources.n_mappings);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, producer);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (8192, 4));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (4 * 8192));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/nothing-grows/pool", test_pool);
  arena_test_add ("/arena/boundary/nothing-grows/ring", test_ring);
  return g_test_run ();
}
