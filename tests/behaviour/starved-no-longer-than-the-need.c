/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* H10: a try that found no storage leaves its need standing for who polls. The producer's next call takes it back, whatever
 * that is: a consumer that still saw it would blame itself for a wait that is over. */

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
  ArenaUnit     *kept;
} Case;

static void
set_up (Case *c)
{
  g_autoptr(GError) error = NULL;

  c->consumer = arena_test_consumer_new (arena_test_pool_new (8192, 1), 2);
  c->producer = arena_test_producer_new (c->consumer);
  arena_consumer_set_starve_timeout (c->consumer, 0);
  g_assert_true (arena_consumer_start (c->consumer, NULL));
  arena_test_wait_iteration (c->producer);
  g_assert_true (arena_test_send (c->producer, 8192, 0, NULL));
  c->kept = arena_test_next (c->consumer);

  g_assert_false (arena_test_send (c->producer, 8192, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_null (arena_consumer_next (c->consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Unit 0 is held here");
}

static void
tear_down (Case *c)
{
  g_object_unref (c->kept);
  g_object_unref (c->producer);
  g_object_unref (c->consumer);
}

static void
test_small_unit (void)
{
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder;
  Case c;

  set_up (&c);
  builder = arena_producer_begin_unit (c.producer, 0, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (arena_consumer_next (c.consumer, 20000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);

  g_assert_true (arena_unit_builder_commit (builder, &error));
  g_object_unref (arena_test_next (c.consumer));
  tear_down (&c);
}

static void
test_refused_wait (void)
{
  g_autoptr(GError) error = NULL;
  Case c;

  set_up (&c);
  g_assert_false (arena_test_send (c.producer, 8192, 1000, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_null (arena_consumer_next (c.consumer, 20000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  tear_down (&c);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/boundary/starved/need/small-unit", test_small_unit);
  arena_test_add ("/arena/boundary/starved/need/refused-wait", test_refused_wait);
  return g_test_run ();
}
