/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

/* C102: while an asynchronous call waits or works, a timer of 16 ms is hardly later than without it: its 99th
 * percentile is at most twice that of the same timer idle, in one run, and a little for a busy machine. Noise
 * passes; what blocks is late in every round. */

#define SIZE     (1 << 20)
#define PHASE_MS 250
#define FLOOR_US 3000
#define N_ROUNDS 6

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer; /* NULL: in a thread */
  ArenaTestCall  call;
  gint64         until;
  guint          n_units;
} Fixture;

static void
set_up (Fixture *f)
{
  *f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2) };
  f->producer = arena_test_producer_new (f->consumer);
}

static void
begin (Fixture *f)
{
  g_assert_true (arena_consumer_start (f->consumer, NULL));
  arena_test_wait_iteration (f->producer);
}

static void
tear_down (Fixture *f)
{
  arena_test_call_clear (&f->call);
  g_clear_object (&f->producer);
  arena_test_close (f->consumer, NULL);
}

/* Waits in vain until the end of the phase. */
static void
wait_pending (Fixture *f)
{
  arena_test_call_assert_pending (&f->call, PHASE_MS);
}

static void
run_next (void)
{
  g_autoptr(ArenaUnit) unit = NULL;
  Fixture f;

  set_up (&f);
  begin (&f);
  arena_consumer_next_async (f.consumer, -1, NULL, arena_test_call_done, &f.call);
  wait_pending (&f);
  g_assert_true (arena_test_send (f.producer, 4096, 0, NULL));
  unit = arena_test_call_next (&f.call, NULL);
  tear_down (&f);
}

static void
run_stop (void)
{
  Fixture f;

  set_up (&f);
  begin (&f);
  arena_consumer_stop_async (f.consumer, -1, NULL, arena_test_call_done, &f.call);
  wait_pending (&f);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_call_wait (&f.call);
  tear_down (&f);
}

static void
run_wait_iteration (void)
{
  Fixture f;

  set_up (&f);
  arena_producer_wait_iteration_async (f.producer, -1, NULL, arena_test_call_done, &f.call);
  wait_pending (&f);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  arena_test_call_wait (&f.call);
  tear_down (&f);
}

static void
run_begin_unit (void)
{
  Fixture f;

  set_up (&f);
  begin (&f);
  for (guint i = 0; i < 2; i++)
    g_assert_true (arena_test_send (f.producer, 4096, 0, NULL));
  arena_producer_begin_unit_async (f.producer, 4096, -1, NULL, arena_test_call_done, &f.call);
  wait_pending (&f);
  arena_test_receive (f.consumer, 1, 4096);
  arena_test_call_wait (&f.call);
  tear_down (&f);
}

static void
take_and_ask (GObject      *object,
              GAsyncResult *result,
              gpointer      data)
{
  Fixture *f = data;
  g_autoptr(ArenaUnit) unit = arena_consumer_next_finish (ARENA_CONSUMER (object), result, NULL);

  g_assert_nonnull (unit);
  f->n_units++;
  if (g_get_monotonic_time () < f->until)
    arena_consumer_next_async (f->consumer, -1, NULL, take_and_ask, f);
  else
    arena_test_call_done (object, result, &f->call);
}

/* One unit after the other, as fast as they come. */
static void
run_stream (void)
{
  Fixture f = { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2) };
  ArenaTestSeries series = { .n_units = G_MAXUINT, .size = 4096 };
  GThread *producer = arena_test_start_producer (f.consumer, arena_test_send_series, &series);

  f.until = g_get_monotonic_time () + PHASE_MS * 1000;
  arena_consumer_next_async (f.consumer, -1, NULL, take_and_ask, &f);
  arena_test_call_wait (&f.call);
  g_assert_cmpuint (f.n_units, >, 1);
  arena_test_call_clear (&f.call);
  arena_test_close (f.consumer, producer);
}

static gint64
measure (void (*func) (void))
{
  ArenaTestTimer timer;

  arena_test_timer_start (&timer);
  if (func != NULL)
    func ();
  else
    arena_test_turn (PHASE_MS);
  return arena_test_timer_stop (&timer);
}

static void
compare (void (*func) (void))
{
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      gint64 idle = measure (NULL);
      gint64 busy = measure (func);

      g_test_message ("idle %" G_GINT64_FORMAT " us, with a call %" G_GINT64_FORMAT " us", idle, busy);
      if (busy <= 2 * idle + FLOOR_US)
        return;
    }

  g_assert_not_reached ();
}

static void
test_next (void)
{
  compare (run_next);
}

static void
test_stop (void)
{
  compare (run_stop);
}

static void
test_wait_iteration (void)
{
  compare (run_wait_iteration);
}

static void
test_begin_unit (void)
{
  compare (run_begin_unit);
}

static void
test_stream (void)
{
  compare (run_stream);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/main-context/next", test_next);
  arena_test_add ("/arena/main-context/stop", test_stop);
  arena_test_add ("/arena/main-context/wait-iteration", test_wait_iteration);
  arena_test_add ("/arena/main-context/begin-unit", test_begin_unit);
  arena_test_add ("/arena/main-context/stream", test_stream);
  return g_test_run ();
}
