/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A producer that is gone is gone, even while buffers it lent keep its channel; in a forked child that is nobody's word. */

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
} Case;

static void
set_up (Case *c)
{
  c->consumer = arena_test_consumer_new (arena_test_pool_new (8192, 2), 2);
  c->producer = arena_test_producer_new (c->consumer);
  g_assert_true (arena_consumer_start (c->consumer, NULL));
  arena_test_wait_iteration (c->producer);
}

static void
test_lent_buffer (void)
{
  const guint64 shape[] = { 8192 };
  g_autoptr(GBytes) lent = NULL;
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder;
  Case c;

  set_up (&c);
  builder = arena_producer_begin_unit (c.producer, 0, 0, NULL, &error);
  g_assert_no_error (error);
  lent = arena_unit_builder_reserve (builder, "x", ARENA_DTYPE_UINT8, shape, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (arena_unit_builder_commit (builder, &error));
  g_object_unref (c.producer);

  g_assert_cmpuint (arena_test_assert_gone (c.consumer, ""), ==, 1);
  g_assert_cmpuint (g_bytes_get_size (lent), ==, 8192);
  arena_test_close (c.consumer, NULL);
}

static int
drop_in_child (gpointer producer)
{
  g_object_unref (producer);
  return 0;
}

static void
test_forked (void)
{
  Case c;

  set_up (&c);
  arena_test_assert_child (drop_in_child, c.producer);
  g_assert_true (arena_test_send (c.producer, 8192, 0, NULL));
  arena_test_receive (c.consumer, 1, 8192);
  g_object_unref (c.producer);
  arena_test_assert_gone (c.consumer, "");
  arena_test_close (c.consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/dropped-producer/lent-buffer", test_lent_buffer);
  arena_test_add ("/arena/boundary/dropped-producer/forked", test_forked);
  return g_test_run ();
}
