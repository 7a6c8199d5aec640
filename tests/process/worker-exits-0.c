/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F138: leaving in the middle of an iteration is no end of it, whatever the exit code. */
static void
test_in_an_iteration (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 3, "units=10", "at=item:2", "do=exit:0", NULL);

  g_assert_cmpuint (arena_test_assert_gone (ARENA_CONSUMER (worker), "code 0"), ==, 2);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, 0);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

/* A worker that is told that nothing more is wanted leaves by itself, at once. */
static void
test_when_closed (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 3, "units=2", NULL);
  gint64 pid = arena_worker_get_pid (worker);
  gint64 started;

  arena_test_receive (ARENA_CONSUMER (worker), 2, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  started = g_get_monotonic_time ();
  g_assert_true (arena_consumer_close (ARENA_CONSUMER (worker), -1, NULL, NULL));
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, 0);
  g_assert_false (arena_test_process_exists (pid));
  g_assert_finalize_object (worker);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/exits-0/in-an-iteration", test_in_an_iteration);
  arena_test_add ("/arena/worker/exits-0/when-closed", test_when_closed);
  return g_test_run ();
}
