/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-record.h"

/* The storage that comes with a record is what keeps the segment: as long as it lives, nothing overwrites it, and nothing
 * else of the unit is needed. A ring's is a copy. */

#define SIZE  8192
#define COUNT 3

static guint8 source[SIZE];

static void
send (ArenaProducer *producer,
      guint64        number)
{
  g_autoptr(ArenaRecord) record = arena_record_new ();
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;

  arena_test_fill_pattern (source, SIZE, number);
  arena_record_field (record, NULL, ARENA_DTYPE_UINT8, (guint64[]) { SIZE }, 1, NULL, source, SIZE);
  bytes = arena_record_end (record);
  arena_producer_send_packed (producer, 0, NULL, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), &error);
  g_assert_no_error (error);
}

static GBytes *
take (ArenaConsumer *consumer,
      gboolean       packed)
{
  g_autoptr(ArenaUnit) unit = packed ? NULL : arena_test_next (consumer);
  g_autofree guint8 *record = NULL;
  g_autoptr(GError) error = NULL;
  GBytes *storage = NULL;
  gsize size;

  record = packed ? arena_consumer_next_packed (consumer, 0, NULL, &size, &storage, &error)
                  : arena_unit_take_packed (unit, &size, &storage, &error);
  g_assert_no_error (error);
  return storage;
}

static void
run (ArenaBackend *backend,
     gboolean      packed)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 1);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  GBytes *kept[COUNT - 1];

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint round = 0; round < 20; round++)
    {
      for (guint i = 0; i < COUNT - 1; i++)
        {
          send (producer, round * COUNT + i);
          kept[i] = take (consumer, packed);
        }
      send (producer, round * COUNT + COUNT - 1);
      g_bytes_unref (take (consumer, packed));
      for (guint i = 0; i < COUNT - 1; i++)
        {
          g_assert_true (arena_test_check_pattern (g_bytes_get_data (kept[i], NULL), SIZE, round * COUNT + i));
          g_bytes_unref (kept[i]);
        }
    }

  send (producer, 7);
  kept[0] = take (consumer, packed);
  arena_test_close (consumer, NULL);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (kept[0], NULL), SIZE, 7));
  g_bytes_unref (kept[0]);
}

static void
test_pool_next (void)
{
  run (arena_test_pool_new (SIZE, COUNT), TRUE);
}

static void
test_pool_take (void)
{
  run (arena_test_pool_new (SIZE, COUNT), FALSE);
}

static void
test_ring (void)
{
  run (arena_test_ring_new (COUNT * SIZE), TRUE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/packed-view/pool-next", test_pool_next);
  arena_test_add ("/arena/packed-view/pool-take", test_pool_take);
  arena_test_add ("/arena/packed-view/ring", test_ring);
  return g_test_run ();
}
