/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F69: every field in the arena starts on a multiple of 64 bytes, whatever came before it, in the segment or the
 * span and in memory, for both kinds. */

#define SIZE 65536

static const gsize sizes[] = { 10, 100, 3 };

static gsize
size_of (ArenaConsumer *consumer,
         guint          field)
{
  return arena_consumer_get_threshold (consumer) + sizes[field];
}

static void
send (ArenaConsumer *consumer,
      ArenaProducer *producer)
{
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, 0, 0, NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      gsize size = size_of (consumer, i);
      g_autofree guint8 *data = g_malloc (size);
      g_autoptr(GBytes) bytes = g_bytes_new_static (data, size);

      arena_test_fill_pattern (data, size, i);
      g_assert_cmpint (arena_unit_builder_append_bytes (builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { size }, 1,
                                                        bytes, NULL), ==, i);
    }
  g_assert_true (arena_unit_builder_commit (builder, NULL));
}

static void
check (ArenaConsumer *consumer)
{
  g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
  gint64 next = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr(ArenaField) field = arena_unit_dup_field (unit, i, NULL);
      g_autoptr(GBytes) bytes = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpint (arena_field_get_offset (field), ==, next);
      g_assert_cmpuint ((guintptr) g_bytes_get_data (bytes, NULL) % 64, ==, 0);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, size_of (consumer, i));
      g_assert_true (arena_test_check_bytes (bytes, i));
      next = (next + (gint64) size_of (consumer, i) + 63) / 64 * 64;
    }
}

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 50; i++)
    {
      send (consumer, producer);
      check (consumer);
    }
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (SIZE, 3));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (SIZE));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/fields-start-on-64/pool", test_pool);
  arena_test_add ("/arena/boundary/fields-start-on-64/ring", test_ring);
  return g_test_run ();
}
