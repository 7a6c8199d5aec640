/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F35, F106, F128: a producer that waits for room, for a segment or for a span leaves its wait when its consumer closes. */

static void
run (ArenaBackend *backend,
     guint         n_kept)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 1);
  ArenaTestSeries series = { .n_units = 100, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaUnit *kept[2];
  gint64 started;

  for (guint i = 0; i < n_kept; i++)
    kept[i] = arena_test_next (consumer);
  g_usleep (30000);
  started = g_get_monotonic_time ();
  arena_test_close (consumer, producer);
  g_assert_cmpint (g_get_monotonic_time () - started, <, G_USEC_PER_SEC);
  for (guint i = 0; i < n_kept; i++)
    {
      arena_test_assert_unit (kept[i], 8192);
      g_object_unref (kept[i]);
    }
}

static void
test_room (void)
{
  run (arena_test_pool_new (8192, 8), 1);
}

static void
test_segment (void)
{
  run (arena_test_pool_new (8192, 2), 2);
}

static void
test_span (void)
{
  run (arena_test_ring_new (8192), 1);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/close-frees/room", test_room);
  arena_test_add ("/arena/boundary/close-frees/segment", test_segment);
  arena_test_add ("/arena/boundary/close-frees/span", test_span);
  return g_test_run ();
}
