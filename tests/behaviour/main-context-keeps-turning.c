/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include "sync/arena-timing-private.h"

/* C102: while an asynchronous call waits or works, a timer of 16 ms is hardly later than without it: its 99th
 * percentile is at most twice that of the same timer idle, in one run. Idle windows and ones with the call take turns; idle is
 * the worst so far, and one good window with the call will do: what makes a busy machine late passes, what blocks is late
 * in every round. A timer less late than FLOOR_US counts as that late, since twice nothing is nothing. */

#define SIZE     (1 << 20)
#define PHASE_MS 250
#define FLOOR_US 1500
#define N_ROUNDS 8

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

/* It never attaches, may hang up at once, and has to be ended. */
static ArenaWorker *
start_worker (ArenaTestCall *call,
              gboolean       hang_up)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  const char *argv[] = { "sh", "-c", hang_up ? "exec sleep 60 3>&-" : "exec sleep 60", NULL };
  g_autoptr(GError) error = NULL;
  ArenaWorker *worker;

  arena_worker_new_async (backend, argv, 2, G_PRIORITY_DEFAULT, NULL, arena_test_call_done, call);
  arena_test_call_wait (call);
  worker = arena_worker_new_finish (call->result, &error);
  g_assert_no_error (error);
  arena_test_call_clear (call);
  return worker;
}

static void
run_new_worker (void)
{
  ArenaTestCall call = { NULL };
  ArenaWorker *worker = start_worker (&call, FALSE);

  arena_test_turn (PHASE_MS);
  g_assert_finalize_object (worker);
}

static void
run_close (void)
{
  ArenaTestCall call = { NULL };
  g_autoptr(ArenaWorker) worker = start_worker (&call, FALSE);

  arena_consumer_close_async (ARENA_CONSUMER (worker), -1, NULL, arena_test_call_done, &call);
  arena_test_call_assert_pending (&call, PHASE_MS / 2);
  arena_test_call_wait (&call);
  g_assert_true (arena_consumer_close_finish (ARENA_CONSUMER (worker), call.result, NULL));
  arena_test_call_clear (&call);
}

/* Its exit status could still come. */
static void
run_hung_up (void)
{
  ArenaTestCall call = { NULL };
  g_autoptr(ArenaWorker) worker = start_worker (&call, TRUE);
  g_autoptr(GError) error = NULL;

  arena_consumer_next_async (ARENA_CONSUMER (worker), -1, NULL, arena_test_call_done, &call);
  arena_test_call_assert_pending (&call, PHASE_MS / 2);
  arena_test_call_wait (&call);
  arena_test_turn (PHASE_MS / 5); /* the timer is late only when it comes */
  g_assert_null (arena_consumer_next_finish (ARENA_CONSUMER (worker), call.result, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  arena_test_call_clear (&call);
}

static gpointer
wait_for_status (gpointer worker)
{
  g_assert_null (arena_consumer_next (worker, -1, NULL, NULL));
  return NULL;
}

/* Another thread is waiting for it. */
static void
run_close_beside (void)
{
  ArenaTestCall call = { NULL };
  g_autoptr(ArenaWorker) worker = start_worker (&call, TRUE);
  GThread *thread = g_thread_new ("next", wait_for_status, worker);

  arena_test_turn (PHASE_MS / 5);
  arena_consumer_close_async (ARENA_CONSUMER (worker), 0, NULL, arena_test_call_done, &call);
  arena_test_call_wait (&call);
  g_assert_true (arena_consumer_close_finish (ARENA_CONSUMER (worker), call.result, NULL));
  arena_test_call_clear (&call);
  g_thread_join (thread);
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
  gint64 idle = FLOOR_US;

  for (guint round = 0; round < N_ROUNDS; round++)
    {
      gint64 quiet = measure (NULL);
      gint64 busy = measure (func);

      idle = MAX (idle, quiet);
      g_test_message ("idle %" G_GINT64_FORMAT " us, with a call %" G_GINT64_FORMAT " us", idle, busy);
      if (busy <= 2 * idle)
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
test_new_worker (void)
{
  compare (run_new_worker);
}

static void
test_close (void)
{
  compare (run_close);
}

static void
test_hung_up (void)
{
  compare (run_hung_up);
}

static void
test_close_beside (void)
{
  compare (run_close_beside);
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
  arena_test_log_capture (); /* that a worker had to be ended */
  arena_timing.join = PHASE_MS * 1000;
  arena_timing.exit_status = PHASE_MS * 1000;
  arena_timing.dispose_grace = 0;
  arena_test_add ("/arena/main-context/new-worker", test_new_worker);
  arena_test_add ("/arena/main-context/close", test_close);
  arena_test_add ("/arena/main-context/hung-up", test_hung_up);
  arena_test_add ("/arena/main-context/close-beside", test_close_beside);
  arena_test_add ("/arena/main-context/next", test_next);
  arena_test_add ("/arena/main-context/stop", test_stop);
  arena_test_add ("/arena/main-context/wait-iteration", test_wait_iteration);
  arena_test_add ("/arena/main-context/begin-unit", test_begin_unit);
  arena_test_add ("/arena/main-context/stream", test_stream);
  return g_test_run ();
}
