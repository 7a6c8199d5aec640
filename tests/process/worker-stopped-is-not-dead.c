/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>

#include "sync/arena-timing-private.h"

/* C58, protocol 6: a stopped worker is waited for, with one line in the log, and goes on where it was. */
static void
test_stopped (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 2, "units=20", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  pid_t pid = (pid_t) arena_worker_get_pid (worker);
  g_autoptr(GError) error = NULL;
  ArenaUnit *unit;
  guint n = 0;

  arena_test_receive (consumer, 5, 4096);
  n = 5;
  arena_test_log_forget (); /* its start may have taken long */
  g_assert_no_errno (kill (pid, SIGSTOP));
  while ((unit = arena_consumer_next (consumer, 300000, NULL, &error)) != NULL)
    {
      arena_test_assert_unit (unit, 4096);
      g_object_unref (unit);
      n++;
    }
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_cmpuint (n, <, 20);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_MASK, NULL), ==, 1);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, "the other side is alive"), ==, 1);

  g_assert_no_errno (kill (pid, SIGCONT));
  arena_test_receive (consumer, 20 - n, 4096);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.stall_log = 50000;
  arena_test_add ("/arena/worker/stopped-is-not-dead", test_stopped);
  return g_test_run ();
}
