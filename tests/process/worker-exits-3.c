/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F138, F139: a worker that leaves early is named as gone, with its exit code, after everything it had sent. */

static void
run (ArenaBackend *backend,
     const char   *where,
     guint         n_units)
{
  ArenaWorker *worker = arena_test_worker_new (backend, 3, "units=10", "size=20000", where, "do=exit:3", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, -1);
  g_assert_cmpuint (arena_test_assert_gone (consumer, "code 3"), ==, n_units);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, 3 << 8);

  /* It stays so. */
  g_assert_false (arena_consumer_start (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "code 3");
  g_assert_cmpuint (arena_test_assert_gone (consumer, "code 3"), ==, 0);
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 4), "at=item:4", 4);
}

static void
test_ring (void)
{
  run (arena_test_ring_new (80000), "at=item:4", 4);
}

/* F141 */
static void
test_before_attaching (void)
{
  run (arena_test_pool_new (20000, 4), "at=start", 0);
}

static void
test_before_any_unit (void)
{
  run (arena_test_pool_new (20000, 4), "at=attached", 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/exits-3/pool", test_pool);
  arena_test_add ("/arena/worker/exits-3/ring", test_ring);
  arena_test_add ("/arena/worker/exits-3/before-attaching", test_before_attaching);
  arena_test_add ("/arena/worker/exits-3/before-any-unit", test_before_any_unit);
  return g_test_run ();
}
