/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F68: what the control pages count is there to be read: published and given back as units and held units, the bytes
 * between head and tail as occupancy, and the geometry as properties that nobody can set afterwards. */

#define SIZE  8192
#define COUNT 4

static void
assert_read_only (gpointer    object,
                  const char *name,
                  guint64     value)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (object), name);
  g_auto(GValue) is = G_VALUE_INIT;
  g_auto(GValue) number = G_VALUE_INIT;

  g_assert_nonnull (pspec);
  g_assert_true ((pspec->flags & G_PARAM_READABLE) != 0);
  g_assert_true ((pspec->flags & G_PARAM_WRITABLE) == 0 || (pspec->flags & G_PARAM_CONSTRUCT_ONLY) != 0);
  g_object_get_property (object, name, &is);
  g_value_init (&number, G_TYPE_UINT64);
  g_assert_true (g_value_transform (&is, &number));
  g_assert_cmpuint (g_value_get_uint64 (&number), ==, value);
}

static void
assert_counters (ArenaConsumer *consumer,
                 guint64        units,
                 guint64        held,
                 guint64        occupancy)
{
  g_autoptr(ArenaStats) stats = arena_consumer_dup_stats (consumer);

  g_assert_cmpuint (arena_stats_get_units (stats), ==, units);
  g_assert_cmpuint (arena_stats_get_bytes (stats), ==, units * SIZE);
  g_assert_cmpuint (arena_stats_get_held_units (stats), ==, held);
  g_assert_cmpuint (arena_stats_get_occupancy (stats), ==, occupancy);
  g_assert_cmpuint (arena_stats_get_peak_occupancy (stats), >=, occupancy);
  g_assert_cmpuint (arena_stats_get_reserved_bytes (stats), ==, SIZE * COUNT);
}

static void
run (ArenaBackend *backend,
     guint         n_held)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, COUNT);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  guint64 units = 0;

  assert_counters (consumer, 0, 0, 0);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  /* The consumer counts the other end's since it knows it, which is since its first call. */
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  arena_test_receive (consumer, 1, SIZE);
  assert_counters (consumer, ++units, 0, 0);
  for (guint lap = 0; lap < 10; lap++)
    {
      g_autoptr(ArenaUnit) unit = NULL;

      for (guint i = 1; i <= COUNT - 1; i++)
        {
          g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
          assert_counters (consumer, units, 0, i * SIZE);
        }
      unit = arena_test_next (consumer);
      assert_counters (consumer, ++units, n_held, (COUNT - 2 + n_held) * SIZE);
      g_clear_object (&unit);
      assert_counters (consumer, units, 0, (COUNT - 2) * SIZE);
      arena_test_receive (consumer, COUNT - 2, SIZE);
      units += COUNT - 2;
      assert_counters (consumer, units, 0, 0);
    }
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  ArenaBackend *backend = arena_test_pool_new (SIZE, COUNT);

  assert_read_only (backend, "segment-size", SIZE);
  assert_read_only (backend, "count", COUNT);
  run (backend, 1);
}

/* A copy is no unit of the ring's any more. */
static void
test_ring (void)
{
  ArenaBackend *backend = arena_test_ring_new (SIZE * COUNT);

  assert_read_only (backend, "capacity", SIZE * COUNT);
  run (backend, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/counters/pool", test_pool);
  arena_test_add ("/arena/boundary/counters/ring", test_ring);
  return g_test_run ();
}
