/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* H11, C101: a start whose wait is cancelled goes on later with the same number, so no iteration is left out. */

/* A producer that takes its time with each unit, so that a stop meets it at work. */
static void
produce_slowly (ArenaProducer *producer,
                gpointer       data)
{
  while (arena_producer_wait_iteration (producer, -1, NULL, NULL, NULL))
    {
      for (guint i = 0; i < 10; i++)
        {
          g_usleep (30000);
          if (!arena_test_send (producer, 8192, -1, NULL))
            break;
        }
      g_assert_true (arena_producer_finish_iteration (producer, NULL));
    }
}

static void
test_cancelled (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 4), 2);
  GThread *producer = arena_test_start_producer (consumer, produce_slowly, NULL);
  g_autoptr(GError) error = NULL;

  arena_test_receive (consumer, 1, 8192);
  for (guint64 epoch = 2; epoch <= 5; epoch++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      GThread *thread = arena_test_cancel_later (cancellable, 10);
      g_autoptr(ArenaUnit) unit = NULL;

      g_assert_true (arena_consumer_start (consumer, NULL));
      g_assert_null (arena_consumer_next (consumer, -1, cancellable, &error));
      arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      arena_test_join_canceller (thread, cancellable);

      unit = arena_test_next (consumer);
      g_assert_cmpuint (arena_unit_get_epoch (unit), ==, epoch);
      arena_test_assert_unit (unit, 8192);
    }

  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/cancelled-start", test_cancelled);
  return g_test_run ();
}
