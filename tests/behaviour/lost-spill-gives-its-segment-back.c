/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Where the consumer has no descriptor left for what came outside of the arena, that unit is lost and its error says why;
 * its place in the arena is free again, and the next unit is whole. */

#define SIZE 4096

/* More in a row than there are segments: reading a later one would give those before it back, too. */
static void
lose (ArenaConsumer *consumer,
      ArenaProducer *producer)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(GError) error = NULL;
      ArenaUnit *unit;

      arena_test_send_split (producer, SIZE);
      arena_test_refuse_fds (TRUE);
      unit = arena_consumer_next (consumer, 0, NULL, &error);
      arena_test_refuse_fds (FALSE);
      g_assert_null (unit);
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_NOFILE");
    }
}

static void
test (void)
{
  g_autoptr(ArenaProducer) producer = NULL;
  ArenaConsumer *consumer;

  if (arena_test_on_valgrind ())
    {
      g_test_skip ("valgrind emulates RLIMIT_NOFILE, but not for sockets");
      return;
    }

  consumer = arena_test_consumer_new (arena_test_spilling_new (FALSE, SIZE), 2);
  producer = arena_test_producer_new (consumer);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, 100, 0, NULL));
  arena_test_receive (consumer, 1, 100);
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr(ArenaUnit) unit = NULL;
      g_autoptr(GBytes) bytes = NULL;

      lose (consumer, producer);
      arena_test_send_split (producer, SIZE);
      unit = arena_test_next (consumer);
      bytes = arena_unit_dup_bytes (unit, 1, NULL);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (bytes, NULL), 2 * SIZE, 1));
    }
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/lost-spill-gives-its-segment-back", test);
  return g_test_run ();
}
