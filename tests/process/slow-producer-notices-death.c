/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sync/arena-timing-private.h"

/* C29, F140: a producer that always finds room in its queue, and so never waits, still learns that its consumer died. The
 * consumer is a child of this process, and the producer a child of that, which inherits its end of the socket. */

typedef struct
{
  int pipe[2];
  int worker_fd;
} Case;

static int
produce (gpointer data)
{
  Case *c = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaProducer) producer = arena_producer_new_from_fd (c->worker_fd, &error);
  pid_t self = getpid ();

  g_assert_no_error (error);
  g_assert_cmpint (write (c->pipe[1], &self, sizeof self), ==, sizeof self);
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, 4096, -1, NULL));
  g_assert_no_errno (kill (getppid (), SIGKILL));

  g_usleep ((gulong) arena_timing.look * 3);
  g_assert_null (arena_producer_begin_unit (producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  return 7;
}

static int
consume (gpointer data)
{
  Case *c = data;
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 64), 32);

  g_assert_true (arena_consumer_start (consumer, NULL));
  c->worker_fd = arena_consumer_dup_worker_fd (consumer, NULL);
  g_assert_cmpint (arena_test_start_child (produce, c), >, 0);
  pause ();
  return 0;
}

static void
test_room (void)
{
  Case c;
  pid_t consumer, producer;

  g_assert_no_errno (pipe (c.pipe));
  consumer = arena_test_start_child (consume, &c);
  g_assert_cmpint (read (c.pipe[0], &producer, sizeof producer), ==, sizeof producer);
  g_assert_cmpint (arena_test_wait_child (consumer), ==, SIGKILL);
  g_assert_cmpint (WEXITSTATUS (arena_test_wait_child (producer)), ==, 7);
  close (c.pipe[0]);
  close (c.pipe[1]);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  g_assert_no_errno (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  arena_test_add ("/arena/producer/slow/notices-death", test_room);
  return g_test_run ();
}
