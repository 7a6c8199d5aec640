/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* C24, C29, F140: no worker outlives its consumer, whatever it waits for. The consumer is a child of this process, which
 * inherits the orphan and sees how it ends. */

typedef struct
{
  guint n_units; /* to receive and keep */
  gboolean ring;
  gboolean end;  /* read the iteration to its end: the worker is in stand-by */
  int pipe[2];
} Case;

static int
consume (gpointer data)
{
  Case *c = data;
  ArenaBackend *backend = c->ring ? arena_test_ring_new (40000) : arena_test_pool_new (20000, 2);
  ArenaWorker *worker = arena_test_worker_new (backend, 1, c->end ? "units=2" : "units=1000", "size=20000", NULL);
  gint64 pid = arena_worker_get_pid (worker);
  ArenaUnit *units[4];

  for (guint i = 0; i < c->n_units; i++)
    {
      units[i] = arena_test_next (ARENA_CONSUMER (worker));
      if (c->end)
        g_clear_object (&units[i]);
    }
  if (c->end)
    arena_test_assert_end (ARENA_CONSUMER (worker));

  /* The worker is where it waits. */
  g_usleep (50000);
  g_assert_cmpint (write (c->pipe[1], &pid, sizeof pid), ==, sizeof pid);
  pause ();
  return 0;
}

static void
run (Case c)
{
  gint64 killed, pid;
  pid_t consumer;
  int status;

  g_assert_no_errno (pipe2 (c.pipe, O_CLOEXEC));
  consumer = arena_test_start_child (consume, &c);
  g_assert_cmpint (read (c.pipe[0], &pid, sizeof pid), ==, sizeof pid);
  killed = g_get_monotonic_time ();
  g_assert_no_errno (kill (consumer, SIGKILL));
  g_assert_cmpint (arena_test_wait_child (consumer), ==, SIGKILL);

  status = arena_test_wait_child ((pid_t) pid);
  g_assert_cmpint (g_get_monotonic_time () - killed, <, G_USEC_PER_SEC);
  /* It got PEER_GONE: where it waited, or where it was about to attach. */
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), >=, 98);
  close (c.pipe[0]);
  close (c.pipe[1]);
}

static void
test_waiting_for_room (void)
{
  run ((Case) { .n_units = 1, .ring = TRUE });
}

static void
test_waiting_for_storage (void)
{
  run ((Case) { .n_units = 2 });
}

static void
test_in_stand_by (void)
{
  run ((Case) { .n_units = 2, .end = TRUE });
}

static void
test_before_the_first (void)
{
  run ((Case) { .n_units = 0 });
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  g_assert_no_errno (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  arena_test_add ("/arena/worker/consumer-dies/waiting-for-room", test_waiting_for_room);
  arena_test_add ("/arena/worker/consumer-dies/waiting-for-storage", test_waiting_for_storage);
  arena_test_add ("/arena/worker/consumer-dies/in-stand-by", test_in_stand_by);
  arena_test_add ("/arena/worker/consumer-dies/before-the-first", test_before_the_first);
  return g_test_run ();
}
