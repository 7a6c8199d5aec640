/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F27: an arena is its consumer's from the hand-over on, and serves one producer in its life. */

static void
assert_taken (ArenaBackend *backend)
{
  const char *const argv[] = { "true", NULL };
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_new (backend, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
  g_assert_null (arena_worker_new (backend, argv, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
  g_assert_null (arena_backend_open_reader (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
  g_assert_null (arena_backend_open_writer (backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
}

static void
run (ArenaBackend *backend)
{
  ArenaWorker *worker = arena_test_worker_new (g_object_ref (backend), 1, "units=4", NULL);

  assert_taken (backend);
  arena_test_receive (ARENA_CONSUMER (worker), 2, 4096);
  assert_taken (backend);
  arena_test_receive (ARENA_CONSUMER (worker), 2, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);
  g_assert_finalize_object (backend);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (4096, 3));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (12288));
}

/* The descriptor can be had once, and until then nobody else gets the producer's place. */
static void
test_before_the_producer (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 3);
  ArenaConsumer *consumer = arena_test_consumer_new (g_object_ref (backend), 1);
  g_autoptr(ArenaProducer) producer = NULL;
  g_autoptr(GError) error = NULL;

  assert_taken (backend);
  producer = arena_test_producer_new (consumer);
  g_assert_cmpint (arena_consumer_dup_worker_fd (consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
  arena_test_close (consumer, NULL);
}

/* Nor is an arena with a writer of its own a boundary's. */
static void
test_after_a_writer (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 3);
  g_autoptr(ArenaWriter) writer = arena_backend_open_writer (backend, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_nonnull (writer);
  g_assert_null (arena_consumer_new (backend, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/handed-over-twice/pool", test_pool);
  arena_test_add ("/arena/boundary/handed-over-twice/ring", test_ring);
  arena_test_add ("/arena/boundary/handed-over-twice/before-the-producer", test_before_the_producer);
  arena_test_add ("/arena/boundary/handed-over-twice/after-a-writer", test_after_a_writer);
  return g_test_run ();
}
