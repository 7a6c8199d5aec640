/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

/* Protocol 5.4 over a wait of many tries: the signal once, BUSY after starve-timeout, and then again. */

#define SIZE 8192

typedef struct
{
  ArenaConsumer *consumer;
  GThread       *producer;
  ArenaUnit     *kept[2];
  ArenaTestCall  call;
  guint          n_starved;
  gboolean       give_back;
} Fixture;

static gboolean
on_starved (ArenaConsumer *consumer G_GNUC_UNUSED,
            guint          n_held,
            Fixture       *f)
{
  g_assert_cmpuint (n_held, ==, 2);
  f->n_starved++;
  if (f->give_back)
    g_clear_object (&f->kept[0]);
  return f->give_back;
}

static void
set_up (Fixture         *f,
        ArenaTestSeries *series)
{
  *f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 2), 1) };
  f->producer = arena_test_start_producer (f->consumer, arena_test_send_series, series);
  g_signal_connect (f->consumer, "starved", G_CALLBACK (on_starved), f);
  for (guint i = 0; i < 2; i++)
    f->kept[i] = arena_test_next (f->consumer);
}

static void
tear_down (Fixture *f)
{
  for (guint i = 0; i < 2; i++)
    g_clear_object (&f->kept[i]);
  arena_test_close (f->consumer, f->producer);
}

/* -1: another part of the program may give something back, as it does here. */
static void
test_once (void)
{
  ArenaTestSeries series = { .n_units = 3, .size = SIZE };
  g_autoptr(ArenaUnit) unit = NULL;
  Fixture f;

  set_up (&f, &series);
  arena_consumer_next_async (f.consumer, -1, NULL, arena_test_call_done, &f.call);
  arena_test_call_assert_pending (&f.call, 60);
  g_assert_cmpuint (f.n_starved, ==, 1);
  g_clear_object (&f.kept[0]);
  unit = arena_test_call_next (&f.call, NULL);
  arena_test_assert_unit (unit, SIZE);
  g_assert_cmpuint (f.n_starved, ==, 1);
  tear_down (&f);
}

static void
test_busy (void)
{
  ArenaTestSeries series = { .n_units = 3, .size = SIZE };
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) error = NULL;
  gint64 started;
  Fixture f;

  set_up (&f, &series);
  arena_consumer_set_starve_timeout (f.consumer, 50000);
  for (guint i = 1; i <= 2; i++)
    {
      started = g_get_monotonic_time ();
      arena_consumer_next_async (f.consumer, -1, NULL, arena_test_call_done, &f.call);
      g_assert_null (arena_test_call_next (&f.call, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Units 0, 1 are held here");
      g_assert_cmpint (g_get_monotonic_time () - started, >=, 50000);
      g_assert_cmpuint (f.n_starved, ==, i);
    }

  g_clear_object (&f.kept[0]);
  unit = arena_test_next_async (f.consumer, &error);
  g_assert_no_error (error);
  arena_test_assert_unit (unit, SIZE);
  tear_down (&f);
}

/* One thread that both holds and waits: a handler that gives something back is all that is needed. */
static void
test_handler (void)
{
  ArenaTestSeries series = { .n_units = 3, .size = SIZE };
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, &series);
  arena_consumer_set_starve_timeout (f.consumer, 0);
  f.give_back = TRUE;
  unit = arena_test_next_async (f.consumer, &error);
  g_assert_no_error (error);
  arena_test_assert_unit (unit, SIZE);
  g_assert_cmpuint (f.n_starved, ==, 1);
  tear_down (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/async/starvation/once", test_once);
  arena_test_add ("/arena/async/starvation/busy", test_busy);
  arena_test_add ("/arena/async/starvation/handler", test_handler);
  return g_test_run ();
}
