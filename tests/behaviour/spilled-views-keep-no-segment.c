/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Of a unit that is half in the arena and half outside, who keeps a view of what is outside doesn't stop the producer. */

#define SIZE 4096

static GBytes *
take (ArenaConsumer *consumer,
      guint          index)
{
  g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
  g_autoptr(ArenaField) field = arena_unit_dup_field (unit, index, NULL);
  g_autoptr(GBytes) storage = arena_unit_dup_storage (unit, NULL);

  /* The storage is what is in the arena. */
  g_assert_cmpuint (g_bytes_get_size (storage), ==, SIZE);
  g_assert_cmpint (arena_field_get_offset (field), ==, index == 0 ? 0 : -1);
  return arena_unit_dup_bytes (unit, index, NULL);
}

static void
test (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_spilling_new (FALSE, SIZE), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(GError) error = NULL;
  GBytes *kept[5];

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 5; i++)
    {
      arena_test_send_split (producer, SIZE);
      kept[i] = take (consumer, 1);
    }
  for (guint i = 0; i < 5; i++)
    {
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (kept[i], NULL), 2 * SIZE, 1));
      g_bytes_unref (kept[i]);
    }

  for (guint i = 0; i < 2; i++)
    {
      arena_test_send_split (producer, SIZE);
      kept[i] = take (consumer, 0);
    }
  g_assert_false (arena_test_send (producer, SIZE, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_true (arena_test_send (producer, SIZE + 1, 0, &error));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (kept[i], NULL), SIZE, 1));
      g_bytes_unref (kept[i]);
    }
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spilled-views/keep-no-segment", test);
  return g_test_run ();
}
