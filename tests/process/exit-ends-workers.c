/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Protocol 5.5: a program that exits with workers that nobody has dropped ends them as dropping does, within 200 ms for
 * all of them. The consumer is a child of this process, which would inherit an orphan. */

#define STATUS 7
#define N_WORKERS 3

typedef struct
{
  gboolean close; /* another thread is closing, and would wait for longer */
  gboolean fork;  /* a child of the consumer exits first */
  int pipe[2];
} Case;

static int
leave_at_once (gpointer data G_GNUC_UNUSED)
{
  exit (0);
}

static gpointer
close_slowly (gpointer worker)
{
  arena_consumer_close (worker, 20 * G_USEC_PER_SEC, NULL, NULL);
  return NULL;
}

static int
consume (gpointer data)
{
  Case *c = data;
  static ArenaWorker *workers[N_WORKERS];
  gint64 pids[N_WORKERS];

  for (guint i = 0; i < N_WORKERS; i++)
    {
      workers[i] = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=9", "at=item:1", "do=wait-stubbornly",
                                          NULL);
      arena_test_receive (ARENA_CONSUMER (workers[i]), 1, 4096);
      pids[i] = arena_worker_get_pid (workers[i]);
    }

  if (c->fork)
    {
      arena_test_assert_child (leave_at_once, NULL);
      for (guint i = 0; i < N_WORKERS; i++)
        g_assert_true (arena_test_process_exists (pids[i]));
    }

  if (c->close)
    {
      g_thread_unref (g_thread_new ("close", close_slowly, workers[1]));
      g_usleep (50000);
    }

  g_assert_cmpint (write (c->pipe[1], pids, sizeof pids), ==, sizeof pids);
  exit (STATUS);
}

static void
run (Case c)
{
  gint64 pids[N_WORKERS];
  pid_t consumer;
  gint64 began;
  int status;

  g_assert_no_errno (pipe2 (c.pipe, O_CLOEXEC));
  consumer = arena_test_start_child (consume, &c);
  g_assert_cmpint (read (c.pipe[0], pids, sizeof pids), ==, sizeof pids);
  began = g_get_monotonic_time ();
  status = arena_test_wait_child (consumer);
  g_assert_cmpint (g_get_monotonic_time () - began, <, 5 * G_USEC_PER_SEC);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, STATUS);

  /* Ended and reaped: none is left, not even for this process. */
  for (guint i = 0; i < N_WORKERS; i++)
    {
      g_assert_cmpint (waitpid ((pid_t) pids[i], NULL, WNOHANG), ==, -1);
      g_assert_cmpint (errno, ==, ECHILD);
      g_assert_false (arena_test_process_exists (pids[i]));
    }
  close (c.pipe[0]);
  close (c.pipe[1]);
}

static void
test_stuck (void)
{
  run ((Case) { 0 });
}

static void
test_while_closing (void)
{
  run ((Case) { .close = TRUE });
}

static void
test_forked_child (void)
{
  run ((Case) { .fork = TRUE });
}

/* A worker of a forked child's own is ended by that child, which leaves its parent's alone. */
static int
consume_beside (gpointer data G_GNUC_UNUSED)
{
  run ((Case) { 0 });
  return 0;
}

static void
test_beside_a_parents (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "units=4", NULL);

  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  arena_test_assert_child (consume_beside, NULL);
  arena_test_receive (ARENA_CONSUMER (worker), 3, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  g_assert_no_errno (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  arena_test_add ("/arena/worker/exit/stuck", test_stuck);
  arena_test_add ("/arena/worker/exit/while-closing", test_while_closing);
  arena_test_add ("/arena/worker/exit/forked-child", test_forked_child);
  arena_test_add ("/arena/worker/exit/beside-a-parents", test_beside_a_parents);
  return g_test_run ();
}
