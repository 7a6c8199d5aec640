/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include "sync/arena-timing-private.h"

/* Who waits in short turns, as a binding does that looks for signals in between, starves as one who waits once: one warning
 * in the log, and BUSY after starve-timeout. What ends otherwise begins anew. */

#define SIZE      8192
#define N_TURNS   12
#define TURN_US   20000
#define PATIENCE  200000

typedef struct
{
  ArenaConsumer  *consumer;
  GThread        *producer;
  ArenaTestSeries series;
  ArenaUnit      *kept[2];
} Fixture;

static void
set_up (Fixture *f)
{
  *f = (Fixture) { .series = { .n_units = 4, .size = SIZE } };
  f->consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 2), 1);
  f->producer = arena_test_start_producer (f->consumer, arena_test_send_series, &f->series);
  for (guint i = 0; i < 2; i++)
    f->kept[i] = arena_test_next (f->consumer);
  arena_test_log_forget ();
}

static void
tear_down (Fixture *f)
{
  for (guint i = 0; i < 2; i++)
    g_clear_object (&f->kept[i]);
  arena_test_close (f->consumer, f->producer);
}

static ArenaUnit *
wait_once (ArenaConsumer  *consumer,
           gboolean        async,
           GError        **error)
{
  ArenaTestCall call = { 0 };

  if (!async)
    return arena_consumer_next (consumer, TURN_US, NULL, error);

  arena_consumer_next_async (consumer, TURN_US, NULL, arena_test_call_done, &call);
  return arena_test_call_next (&call, error);
}

static void
assert_times_out (ArenaConsumer *consumer,
                  gboolean       async)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (wait_once (consumer, async, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
}

static void
run_warning (gboolean async)
{
  Fixture f;

  set_up (&f);
  for (guint i = 0; i < N_TURNS; i++)
    assert_times_out (f.consumer, async);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, "Units 0, 1 are held here"), ==, 1);

  /* A unit in between: the next starvation is another one. */
  g_clear_object (&f.kept[0]);
  f.kept[0] = arena_test_next (f.consumer);
  assert_times_out (f.consumer, async);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, 1);
  for (guint i = 0; i < N_TURNS; i++)
    assert_times_out (f.consumer, async);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, 2);
  tear_down (&f);
}

static void
test_warning (void)
{
  run_warning (FALSE);
}

static void
test_warning_async (void)
{
  run_warning (TRUE);
}

static void
run_busy (gboolean async)
{
  gint64 started = g_get_monotonic_time ();
  g_autoptr(GError) error = NULL;
  guint n_turns = 0;
  Fixture f;

  set_up (&f);
  arena_consumer_set_starve_timeout (f.consumer, PATIENCE);
  do
    {
      g_clear_error (&error);
      g_assert_null (wait_once (f.consumer, async, &error));
      g_assert_cmpuint (++n_turns, <, 50);
    }
  while (g_error_matches (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Units 0, 1 are held here");
  g_assert_cmpuint (n_turns, >, 1);
  g_assert_cmpint (g_get_monotonic_time () - started, >=, PATIENCE);
  assert_times_out (f.consumer, async);
  tear_down (&f);
}

static void
test_busy (void)
{
  run_busy (FALSE);
}

static void
test_busy_async (void)
{
  run_busy (TRUE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_warm_up_subprocess ();
  arena_timing.stall_log = PATIENCE;
  arena_test_add ("/arena/boundary/starved-over-short-waits/warning", test_warning);
  arena_test_add ("/arena/boundary/starved-over-short-waits/warning-async", test_warning_async);
  arena_test_add ("/arena/boundary/starved-over-short-waits/busy", test_busy);
  arena_test_add ("/arena/boundary/starved-over-short-waits/busy-async", test_busy_async);
  return g_test_run ();
}
