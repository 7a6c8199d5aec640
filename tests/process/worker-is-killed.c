/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>

/* F127, F138: a worker that a signal ends is noticed soon, and the message says which signal. */

static void
run (const char *action,
     const char *text,
     int         wait_status)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 3, "units=10", "at=item:5", action, NULL);

  g_assert_cmpuint (arena_test_assert_gone (ARENA_CONSUMER (worker), text), ==, 5);
  g_assert_cmpint (arena_worker_get_exit_status (worker) & 0x7f, ==, wait_status);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

static void
test_kills_itself (void)
{
  run ("do=kill", "signal 9", SIGKILL);
}

static void
test_aborts (void)
{
  run ("do=abort", "signal 6", SIGABRT);
}

static gpointer
kill_later (gpointer data)
{
  gint64 *killed = data;

  g_usleep (50000);
  kill ((pid_t) *killed, SIGKILL);
  *killed = g_get_monotonic_time ();
  return NULL;
}

/* The consumer sleeps in next() when it happens; a dying process takes its time to unmap. */
static void
test_while_waited_for (void)
{
  const guint mebibytes = 64;
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (mebibytes << 18, 4), 3, "at=item:0", "do=wait", NULL);
  gint64 killed = arena_worker_get_pid (worker);
  GThread *thread = g_thread_new ("kill", kill_later, &killed);
  gint64 noticed;

  g_assert_cmpuint (arena_test_assert_gone (ARENA_CONSUMER (worker), "signal 9"), ==, 0);
  noticed = g_get_monotonic_time ();
  g_thread_join (thread);
  g_assert_cmpint (noticed - killed, <, G_USEC_PER_SEC + mebibytes * 300);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/is-killed/by-itself", test_kills_itself);
  arena_test_add ("/arena/worker/is-killed/aborts", test_aborts);
  arena_test_add ("/arena/worker/is-killed/while-waited-for", test_while_waited_for);
  return g_test_run ();
}
