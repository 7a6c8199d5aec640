/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A child that the worker forked holds the socket open, so nothing hangs up: the pidfd says that the worker is gone. */
static void
test_leaves_a_child (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 2, "units=9", "at=item:3", "do=leave-child", NULL);
  gint64 started = g_get_monotonic_time ();

  g_assert_cmpuint (arena_test_assert_gone (ARENA_CONSUMER (worker), "code 0"), ==, 3);
  g_assert_cmpint (g_get_monotonic_time () - started, <, 2 * G_USEC_PER_SEC);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/leaves-a-child", test_leaves_a_child);
  return g_test_run ();
}
