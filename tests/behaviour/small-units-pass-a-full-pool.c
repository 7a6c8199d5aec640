/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F160, F113: what fits into the envelope takes no segment, so a pool whose only segment is held still lets it pass. */
static void
test_small_units (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 1), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) kept = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, 8192, 0, NULL));
  kept = arena_test_next (consumer);

  for (guint i = 0; i < 50; i++)
    {
      g_autoptr(ArenaUnit) unit = NULL;

      g_assert_true (arena_test_send (producer, i % 2 == 0 ? 10 : 4095, 0, NULL));
      if (i % 5 == 0)
        {
          /* H10: a wait for storage in between is no starvation while small units come. */
          g_assert_false (arena_test_send (producer, 8192, 0, &error));
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "a free segment");
        }
      unit = arena_test_next (consumer);
      arena_test_assert_unit (unit, i % 2 == 0 ? 10 : 4095);
    }

  arena_test_assert_unit (kept, 8192);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/small-units", test_small_units);
  return g_test_run ();
}
