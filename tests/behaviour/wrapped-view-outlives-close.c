/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* C37: whoever wraps a unit's bytes, here a stream that reads from them, keeps only the memory: the close succeeds,
 * what is read afterwards is right, and the last drop unmaps it (which arena_test_add() looks at). */

#define SIZE 100000

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  ArenaProducer *producer = arena_test_producer_new (consumer);
  g_autoptr(GInputStream) stream = NULL;
  g_autofree guint8 *data = g_malloc (SIZE);
  gsize n_read;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  {
    g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
    g_autoptr(GBytes) bytes = arena_test_dup_bytes (unit);

    stream = g_memory_input_stream_new_from_bytes (bytes);
    g_assert_cmpuint (arena_unit_get_n_exports (unit), >=, 1);
  }

  g_object_unref (producer);
  arena_test_close (consumer, NULL);
  g_assert_true (g_input_stream_read_all (stream, data, SIZE, &n_read, NULL, NULL));
  g_assert_cmpuint (n_read, ==, SIZE);
  g_assert_true (arena_test_check_pattern (data, SIZE, 0));
}

static void
test_pool (void)
{
  run (arena_test_pool_new (SIZE, 2));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (SIZE));
}

/* "Held" is what the statistics say of it. */
static void
test_held (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (SIZE, 2);
  ArenaConsumer *consumer = arena_test_consumer_new (g_object_ref (backend), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaStats) stats = NULL;
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GBytes) bytes = NULL;
  guint n_mappings;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  unit = arena_test_next (consumer);
  bytes = arena_test_dup_bytes (unit);
  g_clear_object (&unit);
  stats = arena_pool_dup_stats (ARENA_POOL (backend));
  g_assert_cmpuint (arena_stats_get_held_units (stats), ==, 1);
  g_clear_object (&producer);
  arena_test_close (consumer, NULL);
  g_clear_object (&backend);
  n_mappings = arena_test_count_mappings ();
  g_assert_cmpuint (n_mappings, >, 0);
  g_assert_true (arena_test_check_bytes (bytes, 0));
  g_clear_pointer (&bytes, g_bytes_unref);
  g_assert_cmpuint (arena_test_count_mappings (), <, n_mappings);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/wrapped-view/pool", test_pool);
  arena_test_add ("/arena/boundary/wrapped-view/ring", test_ring);
  arena_test_add ("/arena/boundary/wrapped-view/held", test_held);
  return g_test_run ();
}
