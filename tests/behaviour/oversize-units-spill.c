/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F157: with oversize=spill a unit too large for the arena arrives as any other, between others, and nothing of it is left
 * when it is gone; with oversize=error it alone is refused. Units without any room in the arena take none of it. */

#define SIZE 10000

static const gsize sizes[] = { 100, SIZE, SIZE + 1, 3 * SIZE, 5000, 20 * SIZE, SIZE, 100 };

static void
check (gboolean ring)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_spilling_new (ring, SIZE), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaStats) stats = NULL;
  ArenaTestResources resources;
  guint64 spilled = 0;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 100; i++)
    {
      gsize size = sizes[i % G_N_ELEMENTS (sizes)];
      g_autoptr(GError) error = NULL;

      arena_test_send (producer, size, 0, &error);
      g_assert_no_error (error);
      arena_test_receive (consumer, 1, size);
      spilled += size > SIZE ? size : 0;
      if (i == 0)
        arena_test_resources_begin (&resources);
    }
  arena_test_resources_end (&resources);

  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_spilled_bytes (stats), ==, spilled);
  g_assert_cmpuint (arena_stats_get_units (stats), ==, 100);
  g_assert_cmpuint (arena_stats_get_bytes (stats), <, 100 * SIZE);
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  check (FALSE);
}

static void
test_ring (void)
{
  check (TRUE);
}

static void
test_error (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 2), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaStats) stats = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_false (arena_test_send (producer, SIZE + 1, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "10001", "10000");
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  arena_test_receive (consumer, 1, SIZE);
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_spilled_bytes (stats), ==, 0);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/oversize/spill-pool", test_pool);
  arena_test_add ("/arena/oversize/spill-ring", test_ring);
  arena_test_add ("/arena/oversize/error", test_error);
  return g_test_run ();
}
