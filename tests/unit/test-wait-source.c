/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/arena-event-private.h"
#include "sync/arena-wait-source-private.h"

/* The same descriptors as the wait loop's, for a main context and for somebody else's loop. */

typedef struct
{
  ArenaPeer     peer;
  ArenaWaiter   waiter;
  GCancellable *cancellable;
  GSource      *source;
  int           other; /* the peer's end */
  int           epoll;
  int           watched;
  guint         n_dispatched;
} Fixture;

static gboolean
count (gpointer data)
{
  ((Fixture *) data)->n_dispatched++;
  return G_SOURCE_CONTINUE;
}

static void
set_up (Fixture  *f,
        gboolean  want_message)
{
  int sockets[2];

  *f = (Fixture) { .cancellable = g_cancellable_new () };
  arena_peer_init (&f->peer);
  g_assert_no_errno (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
  f->peer.socket = sockets[0];
  f->other = sockets[1];
  arena_waiter_init (&f->waiter, arena_event_new (NULL), &f->peer);
  f->waiter.want_message = want_message;

  f->source = arena_wait_source_new (&f->waiter, f->cancellable);
  g_source_set_callback (f->source, count, f, NULL);
  g_source_attach (f->source, NULL);
  f->epoll = arena_waiter_new_epoll (&f->waiter, &f->watched, NULL);
  g_assert_cmpint (f->epoll, >=, 0);
}

static void
tear_down (Fixture *f)
{
  g_source_destroy (f->source);
  g_source_unref (f->source);
  close (f->epoll);
  close (f->waiter.event);
  if (f->other >= 0)
    close (f->other);
  arena_peer_clear (&f->peer);
  g_object_unref (f->cancellable);
}

static gboolean
is_readable (Fixture *f)
{
  struct pollfd watch = { .fd = f->epoll, .events = POLLIN };

  return poll (&watch, 1, 0) == 1;
}

/* One turn of the context that doesn't wait, and the descriptor: they say the same. */
static void
assert_ready (Fixture  *f,
              gboolean  ready)
{
  guint before = f->n_dispatched;

  g_main_context_iteration (NULL, FALSE);
  g_assert_cmpuint (f->n_dispatched - before, ==, ready);
  g_assert_true (is_readable (f) == ready);
}

static void
test_event (void)
{
  Fixture f;

  set_up (&f, FALSE);
  assert_ready (&f, FALSE);
  arena_event_signal (f.waiter.event);
  /* Until a try drains it. */
  assert_ready (&f, TRUE);
  assert_ready (&f, TRUE);
  arena_event_drain (f.waiter.event);
  assert_ready (&f, FALSE);
  g_assert_cmpuint (atomic_load (&f.peer.gone), ==, 0);
  tear_down (&f);
}

static void
test_hang_up (void)
{
  Fixture f;

  set_up (&f, FALSE);
  close (f.other);
  f.other = -1;
  assert_ready (&f, TRUE);
  g_assert_cmpuint (atomic_load (&f.peer.gone), ==, ARENA_PEER_HUNG_UP);
  tear_down (&f);
}

/* Only until the hello is answered; what is sent after it is not what a wait waits for. */
static void
test_message (void)
{
  Fixture f;

  set_up (&f, FALSE);
  g_assert_cmpint (send (f.other, "x", 1, 0), ==, 1);
  assert_ready (&f, FALSE);
  tear_down (&f);

  set_up (&f, TRUE);
  assert_ready (&f, FALSE);
  g_assert_cmpint (send (f.other, "x", 1, 0), ==, 1);
  assert_ready (&f, TRUE);
  f.waiter.want_message = FALSE;
  arena_wait_source_update (f.source);
  arena_waiter_update_epoll (&f.waiter, f.epoll, &f.watched);
  assert_ready (&f, FALSE);
  tear_down (&f);
}

static int
leave_at_once (gpointer data G_GNUC_UNUSED)
{
  return 0;
}

/* An answer brings a pidfd to a source and a descriptor that are there already. */
static void
test_pidfd_comes_later (void)
{
  pid_t pid = arena_test_start_child (leave_at_once, NULL);
  int pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  struct pollfd watch = { .fd = pidfd, .events = POLLIN };
  Fixture f;

  if (arena_test_on_valgrind ())
    {
      g_test_skip ("valgrind has no pidfd_open");
      arena_test_wait_child (pid);
      return;
    }
  g_assert_no_errno (pidfd);
  g_assert_cmpint (poll (&watch, 1, 10000), ==, 1);
  for (guint replaced = 0; replaced < 2; replaced++)
    {
      set_up (&f, FALSE);
      if (replaced == 1)
        {
          arena_peer_open_pid (&f.peer, getpid ());
          arena_wait_source_update (f.source);
          arena_waiter_update_epoll (&f.waiter, f.epoll, &f.watched);
        }
      assert_ready (&f, FALSE);
      arena_peer_take_pidfd (&f.peer, dup (pidfd), TRUE);
      arena_wait_source_update (f.source);
      arena_waiter_update_epoll (&f.waiter, f.epoll, &f.watched);
      assert_ready (&f, TRUE);
      g_assert_cmpuint (atomic_load (&f.peer.gone), ==, ARENA_PEER_EXITED);
      tear_down (&f);
    }
  close (pidfd);
  arena_test_wait_child (pid);
}

static void
test_cancellable (void)
{
  Fixture f;

  set_up (&f, FALSE);
  g_cancellable_cancel (f.cancellable);
  g_main_context_iteration (NULL, FALSE);
  g_assert_cmpuint (f.n_dispatched, >=, 1);
  g_assert_false (is_readable (&f));
  tear_down (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/wait-source/event", test_event);
  arena_test_add ("/arena/wait-source/hang-up", test_hang_up);
  arena_test_add ("/arena/wait-source/message", test_message);
  arena_test_add ("/arena/wait-source/pidfd-comes-later", test_pidfd_comes_later);
  arena_test_add ("/arena/wait-source/cancellable", test_cancellable);
  return g_test_run ();
}
