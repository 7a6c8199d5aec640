/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F17: a consumer that keeps HELD units with a queue of BUFFER needs BUFFER + HELD + 1 segments: with them the producer
 * always has one to fill, with one less it has none. */

#define SIZE   8192
#define BUFFER 3
#define HELD   2

static gboolean
has_room (ArenaProducer *producer)
{
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, SIZE, 0, NULL, NULL);

  if (builder == NULL)
    return FALSE;

  arena_unit_builder_abort (builder);
  return TRUE;
}

static void
run (ArenaBackend *backend,
     gboolean      enough)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, BUFFER + 1);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  ArenaUnit *held[HELD];

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < HELD; i++)
    {
      g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
      held[i] = arena_test_next (consumer);
    }

  /* Every lap has the same room: one is dropped for each that is taken. */
  for (guint i = 0; i < BUFFER; i++)
    g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  for (guint i = 0; i < 20; i++)
    {
      g_assert_cmpint (has_room (producer), ==, enough);
      g_object_unref (held[i % HELD]);
      g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
      held[i % HELD] = arena_test_next (consumer);
      arena_test_assert_unit (held[i % HELD], SIZE);
    }

  for (guint i = 0; i < HELD; i++)
    g_object_unref (held[i]);
  arena_test_close (consumer, NULL);
}

static void
test_enough (void)
{
  run (arena_test_pool_new (SIZE, BUFFER + HELD + 1), TRUE);
}

static void
test_one_less (void)
{
  run (arena_test_pool_new (SIZE, BUFFER + HELD), FALSE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/count/enough", test_enough);
  arena_test_add ("/arena/boundary/count/one-less", test_one_less);
  return g_test_run ();
}
