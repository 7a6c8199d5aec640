/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include "sync/arena-timing-private.h"

/* F159, protocol 5.4: BUSY names the units, comes after starve-timeout and not before, and can be tried again. One warning
 * says the same to who waits for ever. */

static ArenaUnit *kept[3];

static ArenaConsumer *
starve (GThread         **producer,
        ArenaTestSeries  *series)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 3), 1);

  *producer = arena_test_start_producer (consumer, arena_test_send_series, series);
  for (guint i = 0; i < 3; i++)
    kept[i] = arena_test_next (consumer);
  arena_test_log_forget ();
  return consumer;
}

static void
finish (ArenaConsumer *consumer,
        GThread       *producer)
{
  for (guint i = 0; i < 3; i++)
    {
      arena_test_assert_unit (kept[i], 8192);
      g_clear_object (&kept[i]);
    }
  arena_test_receive (consumer, 2, 8192);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, producer);
}

static void
test_busy (void)
{
  ArenaTestSeries series = { .n_units = 5, .size = 8192 };
  GThread *producer;
  ArenaConsumer *consumer = starve (&producer, &series);
  g_autoptr(GError) error = NULL;
  gint64 started = g_get_monotonic_time ();

  arena_consumer_set_starve_timeout (consumer, 50000);
  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Units 0, 1, 2 are held here", "segment of unit 0");
  g_assert_cmpint (g_get_monotonic_time () - started, >=, 50000);

  /* The deadline of the call itself comes first where it is shorter. */
  g_assert_null (arena_consumer_next (consumer, 10000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  finish (consumer, producer);
}

static void
test_warning (void)
{
  ArenaTestSeries series = { .n_units = 5, .size = 8192 };
  GThread *producer;
  ArenaConsumer *consumer = starve (&producer, &series);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, 200000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, "Units 0, 1, 2 are held here"), ==, 1);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, 1);
  finish (consumer, producer);
}

/* The longest timeout there is isn't over at once, and the deadline of the call still counts. */
static void
test_longest (void)
{
  ArenaTestSeries series = { .n_units = 5, .size = 8192 };
  GThread *producer;
  ArenaConsumer *consumer = starve (&producer, &series);
  g_autoptr(GError) error = NULL;

  arena_consumer_set_starve_timeout (consumer, G_MAXINT64);
  g_assert_null (arena_consumer_next (consumer, 50000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  finish (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.stall_log = 100000;
  arena_test_add ("/arena/boundary/starve-timeout/busy", test_busy);
  arena_test_add ("/arena/boundary/starve-timeout/warning", test_warning);
  arena_test_add ("/arena/boundary/starve-timeout/longest", test_longest);
  return g_test_run ();
}
