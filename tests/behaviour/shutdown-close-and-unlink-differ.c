/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F30, F36, F80, F81, F109: three different things, each idempotent, in any order, and none ends a live view. */

typedef gboolean (*Call) (ArenaBackend  *backend,
                          GError       **error);

static const Call calls[] = { arena_backend_shutdown, arena_backend_close, arena_backend_unlink };

static void
run (ArenaBackend *backend,
     const guint  *order)
{
  ArenaConsumer *consumer = arena_test_consumer_new (g_object_ref (backend), 2);
  ArenaProducer *producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, 8192, 0, NULL));
  unit = arena_test_next (consumer);
  bytes = arena_test_dup_bytes (unit);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    for (guint twice = 0; twice < 2; twice++)
      {
        calls[order[i]](backend, &error);
        g_assert_no_error (error);
        g_assert_true (arena_test_check_bytes (bytes, 0));
      }

  g_assert_false (arena_test_send (producer, 8192, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_object_unref (producer);
  arena_test_close (consumer, NULL);
  g_assert_finalize_object (backend);
  g_assert_true (arena_test_check_bytes (bytes, 0));
  arena_test_assert_unit (unit, 8192);
}

static void
test_every_order (void)
{
  static const guint orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      run (arena_test_pool_new (8192, 2), orders[i]);
      run (arena_test_ring_new (2 * 8192), orders[i]);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/three-ends", test_every_order);
  return g_test_run ();
}
