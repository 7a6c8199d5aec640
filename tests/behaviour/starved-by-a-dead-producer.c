/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* H13: a producer that died while it waited leaves its need standing; that is a death, never BUSY. */

static void
run (gint64 timeout)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 1), 1);
  ArenaProducer *producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) error = NULL;

  arena_consumer_set_starve_timeout (consumer, 0);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, 8192, 0, NULL));
  unit = arena_test_next (consumer);
  g_assert_false (arena_test_send (producer, 8192, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (atomic_load (&arena_consumer_get_private (consumer)->channel->cp->need), !=, 0);

  g_object_unref (producer);
  g_assert_null (arena_consumer_next (consumer, timeout, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  arena_test_close (consumer, NULL);
}

static void
test_wait (void)
{
  run (-1);
}

static void
test_try (void)
{
  run (0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/starved/dead-producer/wait", test_wait);
  arena_test_add ("/arena/boundary/starved/dead-producer/try", test_try);
  return g_test_run ();
}
