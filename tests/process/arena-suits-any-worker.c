/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F142: an arena is made before anybody has chosen what will fill it, and then goes to a program of its own as well
 * as to a thread: nothing in it is bound to a way of starting. */

static void
read_units (ArenaConsumer *consumer,
            GThread       *thread)
{
  arena_test_receive (consumer, 5, 20000);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, thread);
}

static void
to_process (ArenaBackend *backend)
{
  read_units (ARENA_CONSUMER (arena_test_worker_new (backend, 2, "units=5", "size=20000", NULL)), NULL);
}

static void
to_thread (ArenaBackend *backend)
{
  ArenaTestSeries series = { .n_units = 5, .size = 20000 };
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);

  read_units (consumer, arena_test_start_producer (consumer, arena_test_send_series, &series));
}

static void
run (ArenaBackend *one,
     ArenaBackend *other)
{
  to_process (one);
  to_thread (other);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 4), arena_test_pool_new (20000, 4));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (80000), arena_test_ring_new (80000));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/suits-any/pool", test_pool);
  arena_test_add ("/arena/worker/suits-any/ring", test_ring);
  return g_test_run ();
}
