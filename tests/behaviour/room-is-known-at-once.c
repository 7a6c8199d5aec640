/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* C01: whether there is room is known when the arena is made, never at the first write. /dev/shm does not matter: four
 * segments of 4 MiB are filled where it has 1 MiB. What can't be had is the constructor's error, with both numbers. */

#define MIB   (G_GUINT64_CONSTANT (1) << 20)
#define SIZE  (4 * MIB)
#define COUNT 4

static int
fill_all (gpointer data)
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;

  if (!arena_test_cover_folder ("/dev/shm", "size=1m"))
    g_printerr ("no mounts of one's own here: with the /dev/shm there is\n");

  consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, COUNT), COUNT);
  producer = arena_test_producer_new (consumer);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < COUNT; i++)
    g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  arena_test_receive (consumer, COUNT, SIZE);
  g_object_unref (producer);
  arena_test_close (consumer, NULL);
  return 0;
}

static void
test_small_shm (void)
{
  arena_test_assert_child (fill_all, NULL);
}

static void
test_too_much (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_pool_new (1024 * 1024 * MIB, 64, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 70368744177664 bytes", " left");
  g_assert_null (arena_ring_new (64 * 1024 * 1024 * MIB, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 70368744177664 bytes", " left");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/room/small-shm", test_small_shm);
  arena_test_add ("/arena/boundary/room/too-much", test_too_much);
  return g_test_run ();
}
