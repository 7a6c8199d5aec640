/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <unistd.h>

/* Protocol 1.6: in a child of the process that opened it, every call is FORKED, and dropping things there touches nothing
 * of the parent's. */

typedef struct
{
  ArenaWorker *worker;
  ArenaUnit   *unit;
  GBytes      *bytes;
} Case;

static int
use (gpointer data)
{
  Case *c = data;
  ArenaConsumer *consumer = ARENA_CONSUMER (c->worker);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_consumer_start (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_consumer_stop (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_consumer_close (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_cmpint (arena_consumer_dup_worker_fd (consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_consumer_watch_pidfd (consumer, dup (0), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);

  arena_stats_free (arena_consumer_dup_stats (consumer));
  g_bytes_unref (c->bytes);
  g_object_unref (c->unit);
  g_assert_finalize_object (c->worker);
  return 0;
}

static void
run (ArenaBackend *backend)
{
  ArenaWorker *worker = arena_test_worker_new (backend, 1, "units=9", "size=20000", NULL);
  ArenaUnit *unit = arena_test_next (ARENA_CONSUMER (worker));
  Case c = { worker, unit, arena_test_dup_bytes (unit) };

  arena_test_assert_child (use, &c);
  g_assert_true (arena_test_process_exists (arena_worker_get_pid (worker)));
  arena_test_assert_unit (unit, 20000);
  g_bytes_unref (c.bytes);
  g_object_unref (unit);

  arena_test_receive (ARENA_CONSUMER (worker), 8, 20000);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 3));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (40000));
}

/* What the child drops is still held by the parent. */
static void
test_view_stays_held (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (20000, 1), 1, "units=9", "size=20000", NULL);
  ArenaUnit *unit = arena_test_next (ARENA_CONSUMER (worker));
  Case c = { worker, unit, arena_test_dup_bytes (unit) };
  g_autoptr(GError) error = NULL;

  arena_test_assert_child (use, &c);
  g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), 50000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_true (arena_test_check_bytes (c.bytes, 0));
  g_bytes_unref (c.bytes);
  g_object_unref (unit);
  arena_test_receive (ARENA_CONSUMER (worker), 8, 20000);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

static int
produce (gpointer data)
{
  ArenaProducer *producer = data;
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_producer_begin_unit (producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_producer_finish_iteration (producer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_producer_fail (producer, "T", "m", NULL, -1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_finalize_object (producer);
  return 0;
}

/* The producer's side, with a unit open. */
static void
test_producer (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (20000, 2), 1);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  ArenaUnitBuilder *builder;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  builder = arena_producer_begin_unit (producer, 20000, -1, NULL, NULL);
  g_assert_nonnull (builder);
  arena_test_assert_child (produce, producer);
  arena_unit_builder_abort (builder);
  g_assert_true (arena_test_send (producer, 20000, -1, NULL));
  g_assert_true (arena_producer_finish_iteration (producer, NULL));
  arena_test_receive (consumer, 1, 20000);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/forked/pool", test_pool);
  arena_test_add ("/arena/boundary/forked/ring", test_ring);
  arena_test_add ("/arena/boundary/forked/view-stays-held", test_view_stays_held);
  arena_test_add ("/arena/boundary/forked/producer", test_producer);
  return g_test_run ();
}
