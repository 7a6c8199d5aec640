/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* C76, F128, F133: leaving four iterations in the middle, with full pools and a kept unit each, takes no time. */

#define WORKERS 4

static ArenaWorker *workers[WORKERS];
static ArenaUnit *units[WORKERS];

static void
begin (void)
{
  for (guint i = 0; i < WORKERS; i++)
    {
      workers[i] = arena_test_worker_new (arena_test_pool_new (20000, 3), 2, "units=1000", "size=20000", NULL);
      units[i] = arena_test_next (ARENA_CONSUMER (workers[i]));
    }
}

static void
test_close (void)
{
  gint64 started;

  begin ();
  started = g_get_monotonic_time ();
  for (guint i = 0; i < WORKERS; i++)
    {
      arena_test_close (ARENA_CONSUMER (workers[i]), NULL);
      g_clear_object (&units[i]);
    }
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
}

static int
exit_without_closing (gpointer data)
{
  begin ();
  exit (0);
}

/* F133: nothing is closed or dropped, and still nobody stays. */
static void
test_exit (void)
{
  gint64 started = g_get_monotonic_time ();

  arena_test_assert_child (exit_without_closing, NULL);
  /* This process would inherit an orphan. */
  g_assert_cmpint (waitpid (-1, NULL, 0), ==, -1);
  g_assert_cmpint (errno, ==, ECHILD);
  g_assert_cmpint (g_get_monotonic_time () - started, <, 2 * G_USEC_PER_SEC);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  g_assert_no_errno (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  arena_test_add ("/arena/worker/early-break/close", test_close);
  arena_test_add ("/arena/worker/early-break/exit", test_exit);
  return g_test_run ();
}
