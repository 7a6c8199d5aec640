/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F03, F28, F120: the same two programs run over a pool and over a ring, and every byte arrives. */

#define UNITS 300
#define SIZE  20000

/* Sizes on both sides of the threshold, up to all of a segment. */
static gsize
size_of (guint i)
{
  return (i * 7919) % SIZE + 1;
}

static void
produce (ArenaProducer *producer,
         gpointer       data)
{
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < UNITS; i++)
    g_assert_true (arena_test_send (producer, size_of (i), -1, NULL));
  g_assert_true (arena_producer_finish_iteration (producer, NULL));
}

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 3);
  GThread *producer = arena_test_start_producer (consumer, produce, NULL);

  for (guint i = 0; i < UNITS; i++)
    arena_test_receive (consumer, 1, size_of (i));
  arena_test_assert_end (consumer);
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
  arena_test_add ("/arena/boundary/same/pool", test_pool);
  arena_test_add ("/arena/boundary/same/ring", test_ring);
  return g_test_run ();
}
