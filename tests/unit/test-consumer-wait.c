/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <unistd.h>

#include "sync/arena-event-private.h"

/* What a consumer's wait sees: the answer, the queue, the states and the peer's end, in that order. */

static ArenaConsumer *
new_consumer (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 2);

  g_assert_true (arena_consumer_start (consumer, NULL));
  return consumer;
}

static void
publish (ArenaTestPeer *peer,
         guint64        unit)
{
  arena_test_peer_publish (peer, (ArenaSlot) { .epoch = 1, .unit = unit, .kind = ARENA_SLOT_UNIT });
}

static gpointer
attach_later (gpointer data)
{
  ArenaTestPeer *peer = g_new (ArenaTestPeer, 1);

  g_usleep (30000);
  arena_test_peer_init (peer, data);
  publish (peer, 0);
  return peer;
}

/* The wait has begun before there is a producer at all. */
static void
test_answer_comes_later (void)
{
  ArenaConsumer *consumer = new_consumer ();
  GThread *thread = g_thread_new ("attach", attach_later, consumer);
  g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
  g_autofree ArenaTestPeer *peer = g_thread_join (thread);

  g_assert_cmpuint (arena_unit_get_epoch (unit), ==, 1);
  arena_test_peer_clear (peer);
  g_object_unref (consumer);
}

/* Protocol 6: every published unit first, then the death, even where that was noticed before; after it nothing. */
static void
test_published_before_death (void)
{
  for (guint noticed = 0; noticed < 2; noticed++)
    {
      ArenaConsumer *consumer = new_consumer ();
      ArenaTestPeer peer;

      arena_test_peer_init (&peer, consumer);
      publish (&peer, 0);
      publish (&peer, 1);
      arena_test_peer_clear (&peer);
      if (noticed == 1)
        g_assert_true (arena_peer_look (&arena_consumer_get_private (consumer)->channel->peer));
      g_assert_cmpuint (arena_test_assert_gone (consumer, ""), ==, 2);
      g_assert_cmpuint (arena_test_assert_gone (consumer, ""), ==, 0);
      g_object_unref (consumer);
    }
}

static void
test_death_before_answer (void)
{
  ArenaConsumer *consumer = new_consumer ();

  close (arena_consumer_dup_worker_fd (consumer, NULL));
  arena_test_assert_gone (consumer, "");
  g_object_unref (consumer);
}

/* H13: an application that only tries learns of the death. */
static void
test_try_sees_death (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  ArenaTestPeer peer;

  arena_test_peer_init (&peer, consumer);
  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  arena_test_peer_clear (&peer);
  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  g_object_unref (consumer);
}

static void
test_malformed_answer (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  int fd = arena_consumer_dup_worker_fd (consumer, NULL);

  g_assert_cmpint (write (fd, "nonsense", 8), ==, 8);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
    }
  close (fd);
  g_object_unref (consumer);
}

/* C101: cancelled in time, and the next call works. */
static void
test_cancel (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) error = NULL;
  gint64 started = g_get_monotonic_time ();
  ArenaTestPeer peer;
  GThread *thread;

  arena_test_peer_init (&peer, consumer);
  thread = arena_test_cancel_later (cancellable, 30);
  g_assert_null (arena_consumer_next (consumer, 10 * G_USEC_PER_SEC, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - started, <, 10 * G_USEC_PER_SEC);
  arena_test_join_canceller (thread, cancellable);

  /* Even with something to take: the caller no longer wants it. */
  publish (&peer, 0);
  g_assert_null (arena_consumer_next (consumer, -1, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  unit = arena_test_next (consumer);
  arena_test_peer_clear (&peer);
  g_object_unref (consumer);
}

/* A wake-up without a reason is no unit. */
static void
test_spurious_wake (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  ArenaTestPeer peer;

  arena_test_peer_init (&peer, consumer);
  for (guint i = 0; i < 3; i++)
    {
      arena_event_signal (peer.channel->wake_consumer);
      g_assert_null (arena_consumer_next (consumer, 10000, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
    }
  arena_test_peer_clear (&peer);
  g_object_unref (consumer);
}

/* Waits are counted for the statistics. */
static void
test_counted (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(ArenaStats) stats = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, 20000, NULL, &error));
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_consumer_waits (stats), >=, 1);
  g_assert_cmpint (arena_stats_get_consumer_wait_time (stats), >=, 10000);
  g_object_unref (consumer);
}

/* An answer whose descriptors couldn't be received was the only one: the error stays when there are descriptors again. */
static void
test_lost_answer (void)
{
  ArenaConsumer *consumer = new_consumer ();
  g_autoptr(GError) error = NULL;
  ArenaTestPeer peer;

  if (arena_test_on_valgrind ())
    {
      g_object_unref (consumer);
      g_test_skip ("valgrind emulates RLIMIT_NOFILE, but not for sockets");
      return;
    }
  arena_test_peer_init (&peer, consumer);
  arena_test_refuse_fds (TRUE);
  g_assert_null (arena_consumer_next (consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_refuse_fds (FALSE);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (arena_consumer_next (consumer, 10 * G_USEC_PER_SEC, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);
    }
  arena_test_peer_clear (&peer);
  g_object_unref (consumer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/consumer/wait/answer-comes-later", test_answer_comes_later);
  arena_test_add ("/arena/consumer/wait/published-before-death", test_published_before_death);
  arena_test_add ("/arena/consumer/wait/death-before-answer", test_death_before_answer);
  arena_test_add ("/arena/consumer/wait/try-sees-death", test_try_sees_death);
  arena_test_add ("/arena/consumer/wait/malformed-answer", test_malformed_answer);
  arena_test_add ("/arena/consumer/wait/cancel", test_cancel);
  arena_test_add ("/arena/consumer/wait/spurious-wake", test_spurious_wake);
  arena_test_add ("/arena/consumer/wait/counted", test_counted);
  arena_test_add ("/arena/consumer/wait/lost-answer", test_lost_answer);
  return g_test_run ();
}
