/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena-error.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-socket-private.h"
#include "sync/arena-timing-private.h"
#include "sync/arena-wait-private.h"

/* A waiter over one cursor, with a record of what the loop called. */
typedef struct
{
  ArenaPeer   peer;
  ArenaWaiter waiter;
  ArenaWord   cursor;
  ArenaWord   want;
  guint64     target;
  GString    *calls;
  guint       n_armed;
  guint       n_disarmed;
  guint       again;      /* settle says AGAIN this often */
  guint       n_checks;
  guint       done_after; /* checks, where not 0 */
} Fixture;

static ArenaWaitStatus
check (gpointer   data,
       GError   **error)
{
  Fixture *f = data;
  gboolean gone = arena_peer_is_gone (&f->peer);

  f->n_checks++;
  if (atomic_load (&f->cursor) >= f->target || (f->done_after > 0 && f->n_checks > f->done_after))
    return ARENA_WAIT_DONE;

  if (!gone)
    return ARENA_WAIT_PENDING;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "gone");
  return ARENA_WAIT_FAILED;
}

static void
arm (gpointer data)
{
  Fixture *f = data;

  f->n_armed++;
  arena_cursor_arm (&f->want, f->target);
}

static ArenaWaitStatus
settle (gpointer   data,
        gint64    *sleep_us G_GNUC_UNUSED,
        GError   **error G_GNUC_UNUSED)
{
  Fixture *f = data;

  if (f->again == 0)
    return ARENA_WAIT_PENDING;

  f->again--;
  return ARENA_WAIT_AGAIN;
}

static void
disarm (gpointer data)
{
  ((Fixture *) data)->n_disarmed++;
}

static const ArenaWaitOps ops = { "a test", check, arm, settle, disarm };

static void
set_up (Fixture *f)
{
  *f = (Fixture) { .target = 1 };
  arena_peer_init (&f->peer);
  arena_waiter_init (&f->waiter, arena_event_new (NULL), &f->peer);
}

static void
tear_down (Fixture *f)
{
  close (f->waiter.event);
  arena_peer_clear (&f->peer);
}

static gboolean
wait_for (Fixture      *f,
          gint64        timeout,
          GCancellable *cancellable,
          GError      **error)
{
  return arena_waiter_wait (&f->waiter, &ops, f, arena_deadline_from_timeout (timeout), cancellable, error);
}

static void
test_done_at_once (void)
{
  Fixture f;

  set_up (&f);
  f.cursor = 1;
  g_assert_true (wait_for (&f, -1, NULL, NULL));
  g_assert_cmpuint (f.n_armed, ==, 0);
  g_assert_cmpuint (f.waiter.n_waits, ==, 0);
  tear_down (&f);
}

/* A try leaves the want standing (a source watches it), anything else takes it back. */
static void
test_try (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_assert_false (wait_for (&f, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "a test");
  g_assert_cmpuint (f.want, ==, 1);
  g_assert_cmpuint (f.n_disarmed, ==, 0);
  tear_down (&f);
}

static void
test_timeout (void)
{
  g_autoptr(GError) error = NULL;
  gint64 started = g_get_monotonic_time ();
  Fixture f;

  set_up (&f);
  g_assert_false (wait_for (&f, 50000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "a test");
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 50000);
  g_assert_cmpuint (f.n_disarmed, ==, 1);
  g_assert_cmpuint (f.waiter.n_waits, >, 0);
  g_assert_cmpint (f.waiter.waited_us, >, 0);
  tear_down (&f);
}

static gpointer
publish_later (gpointer data)
{
  Fixture *f = data;

  g_usleep (30000);
  if (arena_cursor_publish (&f->cursor, &f->want, 0, 1))
    arena_event_signal (f->waiter.event);
  return NULL;
}

static void
test_woken (void)
{
  g_autoptr(GThread) thread = NULL;
  Fixture f;

  set_up (&f);
  thread = g_thread_new ("publisher", publish_later, &f);
  g_assert_true (wait_for (&f, -1, NULL, NULL));
  g_thread_join (g_steal_pointer (&thread));
  tear_down (&f);
}

static void
test_again_arms_again (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  f.again = 3;
  g_assert_false (wait_for (&f, 1000, NULL, &error));
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_cmpuint (f.n_armed, >=, 4);
  tear_down (&f);
}

/* C101: a synchronous wait ends within 50 ms of being cancelled, and the next one works. */
static void
test_cancelled (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  gint64 started;
  GThread *thread;
  Fixture f;

  set_up (&f);
  started = g_get_monotonic_time ();
  thread = arena_test_cancel_later (cancellable, 30);
  g_assert_false (wait_for (&f, -1, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - started, <, 30000 + 500000);
  arena_test_join_canceller (thread, cancellable);

  f.cursor = 1;
  g_assert_true (wait_for (&f, -1, NULL, NULL));

  f.target = 2;
  g_assert_false (wait_for (&f, -1, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  tear_down (&f);
}

/* H13: an application that only ever tries still learns that its peer has died. */
static void
test_try_sees_death (void)
{
  g_autoptr(GError) error = NULL;
  int sockets[2];
  Fixture f;

  set_up (&f);
  g_assert_true (arena_socket_pair (sockets, NULL));
  f.peer.socket = sockets[0];
  g_assert_false (wait_for (&f, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);

  close (sockets[1]);
  g_assert_false (wait_for (&f, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  tear_down (&f);
}

/* What was published before the death is still delivered. */
static void
test_published_before_death (void)
{
  g_autoptr(GError) error = NULL;
  int sockets[2];
  Fixture f;

  set_up (&f);
  g_assert_true (arena_socket_pair (sockets, NULL));
  f.peer.socket = sockets[0];
  f.cursor = 1;
  close (sockets[1]);
  g_assert_true (arena_peer_look (&f.peer));
  g_assert_true (wait_for (&f, -1, NULL, NULL));

  f.target = 2;
  g_assert_false (wait_for (&f, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  tear_down (&f);
}

static void
test_one_wait_at_a_time (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_assert_true (arena_waiter_enter (&f.waiter, NULL));
  g_assert_false (arena_waiter_enter (&f.waiter, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  arena_waiter_leave (&f.waiter);
  g_assert_true (arena_waiter_enter (&f.waiter, NULL));
  tear_down (&f);
}

static guint n_logged;

static GLogWriterOutput
count_log (GLogLevelFlags   level,
           const GLogField *fields,
           gsize            n_fields,
           gpointer         data G_GNUC_UNUSED)
{
  for (gsize i = 0; i < n_fields; i++)
    if (level == G_LOG_LEVEL_INFO && g_str_equal (fields[i].key, "MESSAGE") &&
        g_str_has_prefix (fields[i].value, "Waiting for a test"))
      n_logged++;
  return G_LOG_WRITER_HANDLED;
}

/* C58: a slow peer is told once, and is no failure. */
static void
test_stall_is_logged_once (void)
{
  ArenaTiming timing = arena_timing;
  Fixture f;

  set_up (&f);
  arena_timing.stall_log = 20000;
  n_logged = 0;
  g_assert_false (wait_for (&f, 120000, NULL, NULL));
  g_assert_cmpuint (n_logged, ==, 1);
  arena_timing = timing;
  tear_down (&f);
}

/* Waits in short turns are one wait to the log, and one that ends otherwise is its end. */
static void
test_stall_over_short_waits (void)
{
  ArenaTiming timing = arena_timing;
  Fixture f;

  set_up (&f);
  arena_timing.stall_log = 200000;
  n_logged = 0;
  for (guint i = 0; i < 10; i++)
    g_assert_false (wait_for (&f, 25000, NULL, NULL));
  g_assert_cmpuint (n_logged, ==, 1);

  g_assert_false (wait_for (&f, 0, NULL, NULL));
  g_assert_false (wait_for (&f, 25000, NULL, NULL));
  g_assert_cmpuint (n_logged, ==, 1);
  for (guint i = 0; i < 10; i++)
    g_assert_false (wait_for (&f, 25000, NULL, NULL));
  g_assert_cmpuint (n_logged, ==, 2);
  arena_timing = timing;
  tear_down (&f);
}

/* Failures make spins rarer, never shorter: against a peer that has to wake up first a short one is in vain, and two sides
 * that had both given up would keep each other asleep. */
static void
test_spin_comes_back (void)
{
  guint n_spun = 0;
  Fixture f;

  set_up (&f);
  f.waiter.spin = 100;
  for (guint i = 0; i < 300; i++)
    {
      f.n_checks = 0;
      g_assert_false (wait_for (&f, 1, NULL, NULL));
      n_spun += f.n_checks > 100 ? 1 : 0;
    }

  /* The waits 1, 2, 3, 5, 9, 17, 33, 65, 129, 193 and 257. */
  g_assert_cmpuint (n_spun, ==, 11);

  while (f.waiter.spin_skip > 0)
    g_assert_false (wait_for (&f, 1, NULL, NULL));
  f.n_armed = 0;
  f.n_checks = 0;
  f.done_after = 90;
  g_assert_true (wait_for (&f, -1, NULL, NULL));
  g_assert_cmpuint (f.n_armed, ==, 0);
  g_assert_cmpuint (f.waiter.spin_failures, ==, 0);
  tear_down (&f);
}

/* The answer to a hello takes a process's start, and each look for it is a system call. */
static void
test_no_spin_for_a_message (void)
{
  Fixture f;

  set_up (&f);
  f.waiter.spin = 100;
  f.waiter.want_message = TRUE;
  g_assert_false (wait_for (&f, 1, NULL, NULL));
  g_assert_cmpuint (f.n_checks, <, 100);
  tear_down (&f);
}

/* The other side of a full socket announces nothing: the socket itself wakes. */
static void
test_woken_by_room (void)
{
  g_autofree char *text = g_malloc0 (1024);
  int sockets[2];
  gsize n = 0;
  Fixture f;

  set_up (&f);
  g_assert_true (arena_socket_pair (sockets, NULL));
  f.peer.socket = sockets[0];
  while (arena_socket_send (sockets[0], text, 1024, NULL, 0, NULL))
    n++;

  f.waiter.want_room = TRUE;
  f.waiter.spin = 100;
  g_assert_false (wait_for (&f, 1, NULL, NULL));
  g_assert_cmpuint (f.n_checks, <, 100);

  while (n-- > 0)
    g_assert_cmpint (recv (sockets[1], text, 1024, 0), ==, 1024);
  f.n_checks = 0;
  f.done_after = 2;
  g_assert_true (wait_for (&f, -1, NULL, NULL));
  tear_down (&f);
  close (sockets[1]);
}

/* Two waiters, spinning off, hand a token to and fro: no wake is ever lost. */
#define N_ROUNDS 20000

typedef struct
{
  Fixture  side[2];
} PingPong;

static void
take_turn (PingPong *p,
           guint     self,
           guint64   round)
{
  Fixture *mine = &p->side[self];
  Fixture *other = &p->side[1 - self];

  mine->target = round;
  mine->waiter.spin = 0;
  g_assert_true (wait_for (mine, 20 * G_USEC_PER_SEC, NULL, NULL));
  if (arena_cursor_publish (&other->cursor, &other->want, round - 1 + self, round + self))
    arena_event_signal (other->waiter.event);
}

static gpointer
play (gpointer data)
{
  for (guint64 round = 1; round <= N_ROUNDS; round++)
    take_turn (data, 1, round);
  return NULL;
}

static void
test_no_wake_is_lost (void)
{
  g_autoptr(GThread) thread = NULL;
  PingPong p;

  set_up (&p.side[0]);
  set_up (&p.side[1]);
  p.side[0].cursor = 1;
  thread = g_thread_new ("other", play, &p);
  for (guint64 round = 1; round <= N_ROUNDS; round++)
    take_turn (&p, 0, round);
  g_thread_join (g_steal_pointer (&thread));
  tear_down (&p.side[0]);
  tear_down (&p.side[1]);
}

static gpointer
cancel_later (gpointer cancellable)
{
  g_usleep (30000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

/* A cancellable is heard where there is no descriptor for it. */
static void
test_cancelled_without_descriptors (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  GThread *thread;
  Fixture f;

  set_up (&f);
  arena_test_refuse_fds (TRUE);
  thread = g_thread_new ("cancel", cancel_later, cancellable);
  g_assert_false (wait_for (&f, 10 * G_USEC_PER_SEC, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  arena_test_refuse_fds (FALSE);
  tear_down (&f);
}

static int
wait_without_poll (gpointer data)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  arena_test_refuse_syscall (SYS_ppoll, 0, 0, 0, EINVAL);
  g_assert_false (wait_for (&f, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_NOFILE");
  g_assert_cmpuint (f.n_disarmed, ==, 1);
  return 0;
}

/* The kernel polls nothing above RLIMIT_NOFILE: an error, no endless loop. */
static void
test_poll_is_refused (void)
{
  arena_test_assert_child (wait_without_poll, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  g_log_set_writer_func (count_log, NULL, NULL);
  arena_test_add ("/arena/wait/done-at-once-arms-nothing", test_done_at_once);
  arena_test_add ("/arena/wait/try-leaves-the-want", test_try);
  arena_test_add ("/arena/wait/timeout", test_timeout);
  arena_test_add ("/arena/wait/woken", test_woken);
  arena_test_add ("/arena/wait/again-arms-again", test_again_arms_again);
  arena_test_add ("/arena/wait/cancelled", test_cancelled);
  arena_test_add ("/arena/wait/try-sees-death", test_try_sees_death);
  arena_test_add ("/arena/wait/published-before-death-is-delivered", test_published_before_death);
  arena_test_add ("/arena/wait/one-at-a-time", test_one_wait_at_a_time);
  arena_test_add ("/arena/wait/stall-is-logged-once", test_stall_is_logged_once);
  arena_test_add ("/arena/wait/stall-over-short-waits", test_stall_over_short_waits);
  arena_test_add ("/arena/wait/spin-comes-back", test_spin_comes_back);
  arena_test_add ("/arena/wait/no-spin-for-a-message", test_no_spin_for_a_message);
  arena_test_add ("/arena/wait/woken-by-room", test_woken_by_room);
  arena_test_add ("/arena/wait/no-wake-is-lost", test_no_wake_is_lost);
  arena_test_add ("/arena/wait/cancelled-without-descriptors", test_cancelled_without_descriptors);
  arena_test_add ("/arena/wait/poll-is-refused", test_poll_is_refused);
  return g_test_run ();
}
