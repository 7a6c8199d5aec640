/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "sync/arena-socket-private.h"

/* Protocol 5.3: what a stopped iteration had sent outside of the arena is taken off the socket and closed, and the next
 * iteration's is found behind it. */

#define SIZE 4096

static void
assert_socket_is_empty (ArenaConsumer *consumer)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (consumer);
  g_autoptr(GError) error = NULL;
  ArenaMessage message;
  guint8 byte;

  g_assert_false (arena_socket_receive (priv->channel->peer.socket, &byte, 1, &message, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
}

static void
check (gboolean ring)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_spilling_new (ring, SIZE), 8);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  ArenaTestResources resources;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint round = 0; round < 5; round++)
    {
      g_autoptr(GError) error = NULL;

      for (guint i = 0; i < 8; i++)
        g_assert_true (arena_test_send (producer, i % 2 == 0 ? SIZE + 1 : 100, 0, NULL));
      arena_test_receive (consumer, 1, SIZE + 1);
      if (round == 0)
        arena_test_resources_begin (&resources);

      /* By a stop, and by the next start. */
      if (round % 2 == 0)
        {
          g_assert_false (arena_consumer_stop (consumer, 0, NULL, &error));
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
          assert_socket_is_empty (consumer);
        }
      g_assert_true (arena_consumer_start (consumer, NULL));
      g_assert_true (arena_producer_finish_iteration (producer, NULL));
      g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
      assert_socket_is_empty (consumer);
      arena_test_wait_iteration (producer);
    }

  arena_test_resources_end (&resources);
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

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/stopped-spills/pool", test_pool);
  arena_test_add ("/arena/stopped-spills/ring", test_ring);
  return g_test_run ();
}
