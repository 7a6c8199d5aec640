/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include <sys/socket.h>

/* The asynchronous twins of a producer's two waits; the consumer is in the same thread. */

#define SIZE 8192

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
  ArenaTestCall  call;
} Fixture;

static void
set_up (Fixture *f,
        guint    count,
        guint    buffer_size)
{
  *f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, count), buffer_size) };
  f->producer = arena_test_producer_new (f->consumer);
}

static void
begin_iteration (Fixture *f)
{
  g_assert_true (arena_consumer_start (f->consumer, NULL));
  arena_test_wait_iteration (f->producer);
}

static void
tear_down (Fixture *f)
{
  g_clear_object (&f->producer);
  g_clear_object (&f->consumer);
}

static void
wait_iteration (Fixture      *f,
                gint64        timeout,
                GCancellable *cancellable)
{
  arena_producer_wait_iteration_async (f->producer, timeout, cancellable, arena_test_call_done, &f->call);
}

static gboolean
finish_iteration (Fixture  *f,
                  guint64  *epoch,
                  GError  **error)
{
  gboolean wanted;

  arena_test_call_wait (&f->call);
  wanted = arena_producer_wait_iteration_finish (ARENA_PRODUCER (f->call.object), f->call.result, epoch, error);
  arena_test_call_clear (&f->call);
  return wanted;
}

static void
begin_unit (Fixture      *f,
            gsize         size,
            gint64        timeout,
            GCancellable *cancellable)
{
  arena_producer_begin_unit_async (f->producer, size, timeout, cancellable, arena_test_call_done, &f->call);
}

static ArenaUnitBuilder *
finish_unit (Fixture  *f,
             GError  **error)
{
  ArenaUnitBuilder *builder;

  arena_test_call_wait (&f->call);
  builder = arena_producer_begin_unit_finish (ARENA_PRODUCER (f->call.object), f->call.result, error);
  arena_test_call_clear (&f->call);
  return builder;
}

static void
assert_no_unit (Fixture *f,
                GQuark   domain,
                int      code)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (finish_unit (f, &error));
  g_assert_true (g_error_matches (error, domain, code));
}

/* Sends what has been begun. */
static void
assert_unit (Fixture *f,
             gsize    size)
{
  g_autoptr(GError) error = NULL;
  g_autofree guint8 *data = g_malloc (size);
  guint64 unit = f->producer->unit;
  const guint64 shape[] = { size };
  ArenaUnitBuilder *builder = finish_unit (f, &error);

  g_assert_no_error (error);
  arena_test_fill_pattern (data, size, unit);
  arena_unit_builder_append_address (builder, "x", ARENA_DTYPE_UINT8, shape, 1, (guint64) (guintptr) data, size, NULL, 0,
                                     &error);
  g_assert_no_error (error);
  g_assert_true (arena_unit_builder_set_value (builder, g_variant_new_uint64 (unit), NULL));
  g_assert_true (arena_unit_builder_commit (builder, NULL));
}

static void
test_iteration (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  guint64 epoch;
  Fixture f;

  set_up (&f, 3, 2);
  wait_iteration (&f, 0, NULL);
  g_assert_false (finish_iteration (&f, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "the next iteration");
  wait_iteration (&f, 20000, NULL);
  g_assert_false (finish_iteration (&f, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "the next iteration");
  wait_iteration (&f, -2, NULL);
  g_assert_false (finish_iteration (&f, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);

  wait_iteration (&f, -1, cancellable);
  arena_test_call_assert_pending (&f.call, 10);
  g_cancellable_cancel (cancellable);
  g_assert_false (finish_iteration (&f, NULL, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  wait_iteration (&f, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  g_assert_false (arena_producer_wait_iteration (f.producer, 0, NULL, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  g_assert_true (finish_iteration (&f, &epoch, &error));
  g_assert_cmpuint (epoch, ==, 1);
  wait_iteration (&f, 0, NULL);
  g_assert_false (finish_iteration (&f, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);

  /* Cancelled once it has begun: it has, and is handed over. */
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_assert_end (f.consumer);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  g_cancellable_reset (cancellable);
  wait_iteration (&f, -1, cancellable);
  g_cancellable_cancel (cancellable);
  g_assert_true (finish_iteration (&f, &epoch, &error));
  g_assert_cmpuint (epoch, ==, 2);
  tear_down (&f);
}

static void
test_consumer_ends (void)
{
  for (guint dies = 0; dies < 2; dies++)
    {
      g_autoptr(GError) error = NULL;
      Fixture f;

      set_up (&f, 3, 2);
      wait_iteration (&f, -1, NULL);
      arena_test_call_assert_pending (&f.call, 10);
      if (dies == 1)
        {
          /* As if its process had died: only the socket says so. */
          int other = arena_consumer_get_private (f.consumer)->channel->peer.socket;

          shutdown (other, SHUT_RDWR);
          g_assert_false (finish_iteration (&f, NULL, &error));
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
        }
      else
        {
          g_assert_true (arena_consumer_close (f.consumer, -1, NULL, NULL));
          g_assert_false (finish_iteration (&f, NULL, &error));
          g_assert_no_error (error);
        }
      tear_down (&f);
    }
}

/* A slot in the queue, then storage: ready at once, later, never. */
static void
test_unit (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  ArenaUnit *kept[2];
  Fixture f;

  set_up (&f, 2, 2);
  begin_iteration (&f);
  for (guint i = 0; i < 2; i++)
    {
      begin_unit (&f, SIZE, 0, NULL);
      assert_unit (&f, SIZE);
    }

  begin_unit (&f, SIZE, 0, NULL);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  begin_unit (&f, SIZE, 20000, NULL);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  begin_unit (&f, SIZE + 1, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  for (guint i = 0; i < 2; i++)
    kept[i] = arena_test_next (f.consumer);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);

  /* The queue is empty, the pool is not. */
  begin_unit (&f, SIZE, -1, cancellable);
  arena_test_call_assert_pending (&f.call, 20);
  g_cancellable_cancel (cancellable);
  assert_no_unit (&f, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  begin_unit (&f, SIZE, -1, cancellable);
  assert_no_unit (&f, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  begin_unit (&f, SIZE, -1, NULL);
  arena_test_call_assert_pending (&f.call, 20);
  arena_test_assert_unit (kept[0], SIZE);
  g_object_unref (kept[0]);
  assert_unit (&f, SIZE);
  arena_test_receive (f.consumer, 1, SIZE);
  g_object_unref (kept[1]);

  /* Cancelled once it is open: it is handed over. */
  g_cancellable_reset (cancellable);
  begin_unit (&f, SIZE, -1, cancellable);
  g_cancellable_cancel (cancellable);
  g_assert_nonnull (finish_unit (&f, NULL));
  begin_unit (&f, SIZE, -1, NULL);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  arena_unit_builder_abort (f.producer->builder);
  tear_down (&f);
}

/* F162: it counts among the waits. */
static void
test_stats (void)
{
  g_autoptr(ArenaStats) stats = NULL;
  Fixture f;

  set_up (&f, 1, 1);
  begin_iteration (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  begin_unit (&f, SIZE, -1, NULL);
  arena_test_call_assert_pending (&f.call, 20);
  arena_test_receive (f.consumer, 1, SIZE);
  assert_unit (&f, SIZE);
  stats = arena_consumer_dup_stats (f.consumer);
  g_assert_cmpuint (arena_stats_get_producer_waits (stats), >=, 1);
  g_assert_cmpint (arena_stats_get_producer_wait_time (stats), >=, 20000);
  tear_down (&f);
}

/* While it waits nothing else may begin or end: what it opens would come after the end. */
static void
test_busy (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 1, 1);
  begin_iteration (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  begin_unit (&f, SIZE, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  g_assert_null (arena_producer_begin_unit (f.producer, SIZE, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_false (arena_producer_finish_iteration (f.producer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  g_assert_false (arena_producer_fail (f.producer, "Type", "text", NULL, -1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  arena_test_receive (f.consumer, 1, SIZE);
  assert_unit (&f, SIZE);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_receive (f.consumer, 1, SIZE);
  arena_test_assert_end (f.consumer);
  tear_down (&f);
}

/* Once it has given up, its consumer no longer starves it. */
static void
test_gives_up (void)
{
  ArenaUnit *kept;
  Fixture f;

  set_up (&f, 1, 1);
  begin_iteration (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  kept = arena_test_next (f.consumer);
  begin_unit (&f, SIZE, 20000, NULL);
  g_assert_cmpuint (atomic_load (&f.producer->channel->cp->need), !=, 0);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_cmpuint (atomic_load (&f.producer->channel->cp->need), ==, 0);
  g_object_unref (kept);
  tear_down (&f);
}

/* A wait for storage sleeps until something happens. */
static void
test_sleeps (void)
{
  ArenaUnit *kept;
  guint n_turns = 0;
  gint64 until;
  Fixture f;

  set_up (&f, 1, 1);
  begin_iteration (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  kept = arena_test_next (f.consumer);
  begin_unit (&f, SIZE, 50000, NULL);
  until = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;
  while (f.call.result == NULL && g_get_monotonic_time () < until)
    {
      g_main_context_iteration (NULL, TRUE);
      n_turns++;
    }
  g_assert_cmpuint (n_turns, <, 10);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_object_unref (kept);
  tear_down (&f);
}

static void
test_stopped (void)
{
  Fixture f;

  set_up (&f, 1, 1);
  begin_iteration (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  begin_unit (&f, SIZE, -1, NULL);
  arena_test_call_assert_pending (&f.call, 10);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_CLOSED);
  tear_down (&f);
}

static void
test_uninitialized (void)
{
  Fixture f = { .producer = g_object_new (ARENA_TYPE_PRODUCER, NULL) };
  g_autoptr(GError) error = NULL;

  wait_iteration (&f, -1, NULL);
  g_assert_false (finish_iteration (&f, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  begin_unit (&f, 1, -1, NULL);
  assert_no_unit (&f, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  tear_down (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/producer/async/iteration", test_iteration);
  arena_test_add ("/arena/producer/async/consumer-ends", test_consumer_ends);
  arena_test_add ("/arena/producer/async/unit", test_unit);
  arena_test_add ("/arena/producer/async/stats", test_stats);
  arena_test_add ("/arena/producer/async/busy", test_busy);
  arena_test_add ("/arena/producer/async/gives-up", test_gives_up);
  arena_test_add ("/arena/producer/async/sleeps", test_sleeps);
  arena_test_add ("/arena/producer/async/stopped", test_stopped);
  arena_test_add ("/arena/producer/async/uninitialized", test_uninitialized);
  return g_test_run ();
}
