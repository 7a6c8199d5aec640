/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* C26, F76, F77: commit is the publication point. What died or was aborted before it is never seen. */

static void
fill (ArenaProducer *producer)
{
  const guint64 shape[] = { 8192 };
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, 8192, 0, NULL, NULL);
  g_autoptr(GBytes) data = NULL;
  guint index;

  g_assert_nonnull (builder);
  data = arena_unit_builder_reserve (builder, "x", ARENA_DTYPE_UINT8, shape, 1, &index, NULL);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (data, NULL), 8192, 12345);
}

static ArenaConsumer *
new_consumer (ArenaBackend   *backend,
              ArenaProducer **producer)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);

  *producer = arena_test_producer_new (consumer);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (*producer);
  g_assert_true (arena_test_send (*producer, 8192, 0, NULL));
  return consumer;
}

static void
assert_nothing (ArenaConsumer *consumer)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
}

static void
run_abort (ArenaBackend *backend)
{
  ArenaProducer *producer;
  ArenaConsumer *consumer = new_consumer (backend, &producer);

  fill (producer);
  arena_test_receive (consumer, 1, 8192);
  assert_nothing (consumer);
  arena_unit_builder_abort (producer->builder);
  assert_nothing (consumer);

  /* And its storage is free again, as often as it happens. */
  for (guint i = 0; i < 10; i++)
    {
      fill (producer);
      arena_unit_builder_abort (producer->builder);
      g_assert_true (arena_test_send (producer, 8192, 0, NULL));
      arena_test_receive (consumer, 1, 8192);
    }
  g_object_unref (producer);
  arena_test_close (consumer, NULL);
}

static void
run_death (ArenaBackend *backend)
{
  ArenaProducer *producer;
  ArenaConsumer *consumer = new_consumer (backend, &producer);

  fill (producer);
  g_object_unref (producer);
  g_assert_cmpuint (arena_test_assert_gone (consumer, ""), ==, 1);
  arena_test_close (consumer, NULL);
}

static void
test_abort (void)
{
  run_abort (arena_test_pool_new (8192, 2));
  run_abort (arena_test_ring_new (2 * 8192));
}

static void
test_death (void)
{
  run_death (arena_test_pool_new (8192, 2));
  run_death (arena_test_ring_new (2 * 8192));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/uncommitted/abort", test_abort);
  arena_test_add ("/arena/boundary/uncommitted/death", test_death);
  return g_test_run ();
}
