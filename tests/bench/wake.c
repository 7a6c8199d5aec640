/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-channel.h"
#include "bench-figures.h"

#include "base/arena-error.h"
#include "boundary/arena-queue-private.h"
#include "sync/arena-wait-private.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* One way from one process to the other, both asleep before, without spinning.
 *
 * Ours: a queue with one slot and the library's wait loop at both ends: the producer sleeps until the consumer has taken
 * the descriptor, the consumer until there is one, so each descriptor goes with two wakes. The wait watches everything
 * that a real one watches: event, socket, pidfd, state words. The base: two eventfds, write() to one, ppoll() and read()
 * of the other. */

/* Only what sleeping costs. */
static void
wait_asleep (ArenaWaiter        *waiter,
             const ArenaWaitOps *ops,
             gpointer            queue)
{
  g_autoptr (GError) error = NULL;

  waiter->spin = 0;
  arena_waiter_wait (waiter, ops, queue, -1, NULL, &error);
  bench_check_error (error, ops->what);
}

static ArenaWaitStatus
check_slot (gpointer   data,
            GError   **error)
{
  ArenaQueueIn *queue = data;

  if (!arena_channel_check_consumer (queue->channel, error))
    return ARENA_WAIT_FAILED;

  return arena_queue_in_has_slot (queue, error) ? ARENA_WAIT_DONE : ARENA_WAIT_PENDING;
}

static void
arm_slot (gpointer data)
{
  arena_queue_in_arm (data);
}

static ArenaWaitStatus
check_room (gpointer   data,
            GError   **error)
{
  ArenaQueueOut *queue = data;

  if (!arena_channel_check_producer (queue->channel, 1, error))
    return ARENA_WAIT_FAILED;

  return arena_queue_out_has_room (queue, error) ? ARENA_WAIT_DONE : ARENA_WAIT_PENDING;
}

static void
arm_room (gpointer data)
{
  arena_queue_out_arm (data);
}

static const ArenaWaitOps slot_ops = { .what = "a descriptor", .check = check_slot, .arm = arm_slot };
static const ArenaWaitOps room_ops = { .what = "room", .check = check_room, .arm = arm_room };

/* @ours is written by this side. */
static void
signal_event (int ours)
{
  const guint64 one = 1;

  if (write (ours, &one, sizeof one) != sizeof one)
    bench_fail ("eventfd: %s", g_strerror (errno));
}

static void
await_event (int theirs)
{
  struct pollfd event = { .fd = theirs, .events = POLLIN };
  guint64 count;

  if (ppoll (&event, 1, NULL, NULL) != 1 || read (theirs, &count, sizeof count) != sizeof count || count != 1)
    bench_fail ("eventfd: %s", g_strerror (errno));
}

static double
receive_ours (ArenaWaiter  *waiter,
              ArenaQueueIn *queue,
              BenchPeer    *peer,
              guint64       n)
{
  g_autoptr (GError) error = NULL;
  gint64 start;

  bench_peer_order (peer, BENCH_OURS, n);
  start = bench_peer_await (peer);
  for (guint64 i = 0; i < n; i++)
    {
      guint8 *envelope;
      ArenaSlot slot;

      wait_asleep (waiter, &slot_ops, queue);
      if (!arena_queue_in_take (queue, &slot, &envelope, &error) || slot.unit != i)
        bench_fail ("descriptor %" G_GUINT64_FORMAT " is wrong", i);
    }

  return (double) (bench_now () - start) / (double) (2 * n);
}

static double
receive_base (int        own,
              int        their,
              BenchPeer *peer,
              guint64    n)
{
  gint64 start;

  bench_peer_order (peer, BENCH_BASE, n);
  start = bench_peer_await (peer);
  for (guint64 i = 0; i < n; i++)
    {
      await_event (their);
      signal_event (own);
    }

  return (double) (bench_now () - start) / (double) (2 * n);
}

static void
measure (void)
{
  const int events[] = { eventfd (0, EFD_CLOEXEC), eventfd (0, EFD_CLOEXEC) };
  guint64 n = bench_scale (1500);
  ArenaChannel *channel;
  ArenaWaiter waiter;
  ArenaQueueIn queue;
  BenchSeries series;
  BenchPeer peer;

  channel = bench_channel_open (NULL, -1, 1, 64, &peer, "wake", 0, events, G_N_ELEMENTS (events));
  arena_queue_in_init (&queue, channel);
  arena_waiter_init (&waiter, channel->wake_consumer, &channel->peer);

  bench_series_init (&series, "wake_over_eventfd", BENCH_TIME);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = receive_ours (&waiter, &queue, &peer, n);
      double base = receive_base (events[0], events[1], &peer, n);

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
  bench_peer_stop (&peer);
  arena_channel_unref (channel);
  close (events[0]);
  close (events[1]);
}

static void
send_ours (ArenaWaiter   *waiter,
           ArenaQueueOut *queue,
           guint64        n)
{
  bench_work_reply (bench_now ());
  for (guint64 i = 0; i < n; i++)
    {
      const ArenaSlot slot = { .unit = i, .epoch = 1, .kind = ARENA_SLOT_UNIT };

      wait_asleep (waiter, &room_ops, queue);
      arena_queue_out_publish (queue, &slot);
    }

  wait_asleep (waiter, &room_ops, queue);
}

static void
work (gsize size G_GNUC_UNUSED)
{
  int data_fd;
  ArenaChannel *channel = bench_channel_attach (&data_fd);
  ArenaWaiter waiter;
  ArenaQueueOut queue;
  BenchOrder order;

  arena_queue_out_init (&queue, channel);
  arena_waiter_init (&waiter, channel->wake_producer, &channel->peer);
  bench_channel_answer (channel);
  while (bench_work_next (&order))
    if (order.command == BENCH_OURS)
      send_ours (&waiter, &queue, order.n_units);
    else
      {
        bench_work_reply (bench_now ());
        for (guint64 i = 0; i < order.n_units; i++)
          {
            signal_event (bench_work_fd (2));
            await_event (bench_work_fd (1));
          }
      }
  arena_channel_unref (channel);
}

const BenchFigure bench_wake = {
  .name = "wake",
  .measure = measure,
  .work = work,
  .keys = { "wake_over_eventfd" },
};
