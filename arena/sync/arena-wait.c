/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-wait-private.h"

#include <errno.h>
#include <poll.h>

#include "base/arena-error-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"
#include "sync/arena-spin-private.h"
#include "sync/arena-timing-private.h"

/* The one wait loop of the library.
 *
 * Each turn drains the own event, arms, checks everything that can end the wait, settles and polls, in this order. An
 * event drained after the check could be the one that announced what the check had just missed, and the sleep would
 * never end. A death is only ever noticed by a poll, so a try polls once, without waiting, before it gives up: else an
 * application that only tries would never learn that its peer has died.
 */

/* Spins may fail this often in a row without a consequence; then twice as many waits as before go without one, up to
 * 2^6 - 1. */
#define SPIN_FREE_FAILURES 2
#define SPIN_MAX_DOUBLINGS 6

void
arena_waiter_init (ArenaWaiter *self,
                   int          event,
                   ArenaPeer   *peer)
{
  self->event = event;
  self->peer = peer;
  self->want_message = FALSE;
  self->want_room = FALSE;
  self->entered = 0;
  self->spin = arena_spin_limit ();
  self->spin_failures = 0;
  self->spin_skip = 0;
  self->sleep_hint = -1;
  self->explained = FALSE;
  self->stall_logged = FALSE;
  self->since = 0;
  self->timed_out = NULL;
  self->n_waits = 0;
  self->waited_us = 0;
}

gboolean
arena_waiter_enter (ArenaWaiter  *self,
                    GError      **error)
{
  if (atomic_exchange_explicit (&self->entered, 1, memory_order_acquire) == 0)
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Another call is waiting on this endpoint");
  return FALSE;
}

void
arena_waiter_leave (ArenaWaiter *self)
{
  atomic_store_explicit (&self->entered, 0, memory_order_release);
}

static guint
add_watch (struct pollfd *watch,
           guint          n,
           int            fd,
           short          events)
{
  if (fd < 0)
    return n;

  watch[n] = (struct pollfd) { .fd = fd, .events = events };
  return n + 1;
}

/* One poll over event, socket and pidfd; notes a death. FALSE where the kernel refuses to poll. */
static gboolean
poll_once (ArenaWaiter  *self,
           gint64        timeout_us,
           GError      **error)
{
  short socket_events = (short) (POLLRDHUP | (self->want_message ? POLLIN : 0) | (self->want_room ? POLLOUT : 0));
  struct timespec timeout = { timeout_us / G_USEC_PER_SEC, (timeout_us % G_USEC_PER_SEC) * 1000 };
  struct pollfd watch[3];
  guint gone = 0;
  guint n = 0;
  int ready;

  n = add_watch (watch, n, self->event, POLLIN);
  n = add_watch (watch, n, self->peer->socket, socket_events);
  n = add_watch (watch, n, self->peer->pidfd, POLLIN);

  /* poll() would round to milliseconds. An interrupted sleep is simply another turn of the loop. */
  ready = ppoll (watch, n, timeout_us < 0 ? NULL : &timeout, NULL);
  if (ready < 0 && errno != EINTR)
    {
      arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, errno, "ppoll", "a boundary's descriptors (RLIMIT_NOFILE)");
      return FALSE;
    }
  if (ready <= 0)
    return TRUE;

  for (guint i = 0; i < n; i++)
    {
      if (watch[i].fd == self->peer->socket && (watch[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
        gone |= ARENA_PEER_HUNG_UP;
      else if (watch[i].fd == self->peer->pidfd && watch[i].revents != 0)
        gone |= ARENA_PEER_EXITED;
    }

  if (gone != 0)
    atomic_fetch_or_explicit (&self->peer->gone, gone, memory_order_seq_cst);
  return TRUE;
}

/* Looks again for a while before going to sleep, which is dear for both sides. Only trying shows whether the other side
 * answers within the cost of a sleep, and one that is itself asleep answers late: so every spin has the whole budget, and
 * what follows experience is how often there is one. With a budget that shrinks instead, two sides that once sleep find
 * each other asleep for ever. On one shared CPU no spin ever succeeds, and then one wait in 64 has one. */
static ArenaWaitStatus
spin (ArenaWaiter         *self,
      const ArenaWaitOps  *ops,
      gpointer             data,
      GError             **error)
{
  if (self->spin_skip > 0)
    {
      self->spin_skip--;
      return ARENA_WAIT_PENDING;
    }

  for (guint i = 0; i < self->spin; i++)
    {
      ArenaWaitStatus status;

      arena_cpu_relax ();
      status = ops->check (data, error);
      if (status == ARENA_WAIT_DONE || status == ARENA_WAIT_FAILED)
        {
          self->spin_failures = 0;
          return status;
        }
    }

  if (self->spin_failures < SPIN_FREE_FAILURES + SPIN_MAX_DOUBLINGS)
    self->spin_failures++;
  if (self->spin_failures > SPIN_FREE_FAILURES)
    self->spin_skip = (1u << (self->spin_failures - SPIN_FREE_FAILURES)) - 1;
  return ARENA_WAIT_PENDING;
}

static gint64
shorter (gint64 a,
         gint64 b)
{
  return a < 0 ? b : b < 0 ? a : MIN (a, b);
}

typedef struct
{
  gint64   deadline;
  gint64   started;
  gboolean looked;       /* a poll has shown that the peer lives */
} Sleep;

gint64
arena_waiter_log_stall (ArenaWaiter *self,
                        const char  *what,
                        gint64       since,
                        gboolean    *logged)
{
  gint64 now = g_get_monotonic_time ();
  gint64 left = since + arena_timing.stall_log - now;

  if (*logged || self->explained)
    return -1;
  if (left > 0)
    return left;

  g_info ("Waiting for %s for %.1f s; the other side is alive", what, (double) (now - since) / G_USEC_PER_SEC);
  *logged = TRUE;
  return -1;
}

void
arena_waiter_count (ArenaWaiter *self,
                    gint64       since)
{
  atomic_fetch_add_explicit (&self->n_waits, 1, memory_order_relaxed);
  atomic_fetch_add_explicit (&self->waited_us, g_get_monotonic_time () - since, memory_order_relaxed);
}

/* Sleeps once. FALSE with error when the wait is over: cancelled, or nothing more to wait for. */
static gboolean
sleep_once (ArenaWaiter         *self,
            const ArenaWaitOps  *ops,
            Sleep               *state,
            gint64               sleep_us,
            GCancellable        *cancellable,
            GError             **error)
{
  gint64 now = g_get_monotonic_time ();
  gboolean expired = state->deadline >= 0 && now >= state->deadline;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  if (expired && state->looked)
    {
      if (state->deadline == 0)
        g_set_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "Would have to wait for %s", ops->what);
      else
        g_set_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "Waited %.3f s in vain for %s",
                     (double) (now - state->started) / G_USEC_PER_SEC, ops->what);
      return FALSE;
    }

  sleep_us = shorter (sleep_us, arena_waiter_log_stall (self, ops->what, self->since, &self->stall_logged));
  if (expired)
    sleep_us = 0;
  else if (state->deadline > 0)
    sleep_us = shorter (sleep_us, state->deadline - now);

  if (!poll_once (self, sleep_us, error))
    return FALSE;

  state->looked = TRUE;
  if (sleep_us != 0)
    arena_waiter_count (self, now);

  return TRUE;
}

/* A descriptor of the cancellable's own would be one more, and GLib ends the process where it can't have one. The flag is
 * set before this is called, so the check behind the drain sees it. */
static void
wake_cancelled (GCancellable *cancellable G_GNUC_UNUSED,
                gpointer      data)
{
  arena_event_signal (GPOINTER_TO_INT (data));
}

static ArenaWaitStatus
sleep_until (ArenaWaiter         *self,
             const ArenaWaitOps  *ops,
             gpointer             data,
             gint64               deadline,
             GCancellable        *cancellable,
             GError             **error)
{
  Sleep state = { .deadline = deadline, .started = g_get_monotonic_time () };
  gulong handler = 0;
  ArenaWaitStatus status;

  if (self->timed_out != ops)
    {
      self->explained = FALSE;
      self->stall_logged = FALSE;
      self->since = state.started;
    }
  if (cancellable != NULL)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (wake_cancelled), GINT_TO_POINTER (self->event), NULL);

  for (;;)
    {
      gint64 sleep_us = -1;

      arena_event_drain (self->event);
      ops->arm (data);
      arena_kill_point (ARENA_KILL_AFTER_WANT_STORE);

      status = ops->check (data, error);
      if (status == ARENA_WAIT_PENDING && ops->settle != NULL)
        status = ops->settle (data, &sleep_us, error);
      if (status == ARENA_WAIT_AGAIN)
        continue;
      if (status != ARENA_WAIT_PENDING)
        break;
      self->sleep_hint = sleep_us;
      if (!sleep_once (self, ops, &state, sleep_us, cancellable, error))
        {
          status = ARENA_WAIT_FAILED;
          break;
        }
    }

  if (cancellable != NULL)
    g_cancellable_disconnect (cancellable, handler);
  return status;
}

gboolean
arena_waiter_wait (ArenaWaiter         *self,
                   const ArenaWaitOps  *ops,
                   gpointer             data,
                   gint64               deadline,
                   GCancellable        *cancellable,
                   GError             **error)
{
  g_autoptr(GError) local_error = NULL;
  ArenaWaitStatus status;

  self->sleep_hint = -1;
  if (cancellable != NULL && g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  status = ops->check (data, &local_error);
  /* Until the hello is answered each check is a system call, and a process has to start first; so it is with room. */
  if (status != ARENA_WAIT_DONE && status != ARENA_WAIT_FAILED && deadline != 0 && !self->want_message && !self->want_room)
    status = spin (self, ops, data, &local_error);
  if (status == ARENA_WAIT_PENDING || status == ARENA_WAIT_AGAIN)
    {
      status = sleep_until (self, ops, data, deadline, cancellable, &local_error);
      if (ops->disarm != NULL && !g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
        ops->disarm (data);
    }

  self->timed_out = NULL;
  if (status == ARENA_WAIT_DONE)
    return TRUE;

  if (g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT))
    self->timed_out = ops;
  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}
