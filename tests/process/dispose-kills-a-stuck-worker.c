/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <errno.h>
#include <sys/wait.h>

/* Protocol 5.5, F89: a worker that is dropped unclosed gets 200 ms, then SIGKILL; it is reaped, and nothing is logged. */

static void
drop (ArenaWorker *worker)
{
  pid_t pid = (pid_t) arena_worker_get_pid (worker);
  gint64 started = g_get_monotonic_time ();

  g_assert_finalize_object (worker);
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
  g_assert_cmpint (waitpid (pid, NULL, WNOHANG), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
}

static void
test_stuck (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=9", "at=item:1",
                                               "do=wait-stubbornly", NULL);

  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  drop (worker);
}

static void
test_not_yet_attached (void)
{
  drop (arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "at=start", "do=wait-stubbornly", NULL));
}

/* One that waits for storage leaves by itself, and the view keeps its bytes. */
static void
test_waiting (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=9", NULL);
  g_autoptr(ArenaUnit) unit = arena_test_next (ARENA_CONSUMER (worker));
  g_autoptr(GBytes) bytes = arena_test_dup_bytes (unit);

  drop (worker);
  g_assert_true (arena_test_check_bytes (bytes, 0));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/dispose/stuck", test_stuck);
  arena_test_add ("/arena/worker/dispose/not-yet-attached", test_not_yet_attached);
  arena_test_add ("/arena/worker/dispose/waiting", test_waiting);
  return g_test_run ();
}
