/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F173, C105: a reserved buffer can be written to until the commit, however many references to it there are and
 * whoever else has one. */

#define SIZE 8192

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnitBuilder) builder = NULL;
  g_autoptr(GBytes) lent = NULL, again = NULL, part = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  builder = g_object_ref (arena_producer_begin_unit (producer, SIZE, 0, NULL, NULL));
  lent = arena_unit_builder_reserve (builder, "x", ARENA_DTYPE_UINT8, (guint64[]) { SIZE }, 1, NULL, NULL);
  g_assert_nonnull (lent);
  again = g_bytes_ref (lent);
  part = g_bytes_new_from_bytes (lent, 100, 100);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (again, NULL), SIZE, 0);
  g_assert_true (g_bytes_get_data (lent, NULL) == g_bytes_get_data (again, NULL));
  g_assert_true (arena_unit_builder_set_value (builder, g_variant_new_uint64 (0), NULL));
  g_assert_true (arena_unit_builder_commit (builder, NULL));
  arena_test_receive (consumer, 1, SIZE);
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (SIZE, 2));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (2 * SIZE));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/writable-by-state/pool", test_pool);
  arena_test_add ("/arena/boundary/writable-by-state/ring", test_ring);
  return g_test_run ();
}
