/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A view of bytes that came outside of the arena stays as it was: after its unit's release, later units, a new iteration,
 * close, and the producer's end. */

#define SIZE    4096
#define N_UNITS 6

static void
check (gboolean ring)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = 3 * SIZE };
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_spilling_new (ring, SIZE), 2);
  GThread *thread = arena_test_start_producer (consumer, arena_test_send_series, &series);
  GBytes *kept[2 * N_UNITS];

  for (guint i = 0; i < 2 * N_UNITS; i++)
    {
      g_autoptr(ArenaUnit) unit = NULL;

      if (i == N_UNITS)
        {
          arena_test_assert_end (consumer);
          g_assert_true (arena_consumer_start (consumer, NULL));
        }
      unit = arena_test_next (consumer);
      kept[i] = arena_test_dup_bytes (unit);
      g_assert_cmpuint (g_bytes_get_size (kept[i]), ==, 3 * SIZE);
      arena_unit_release (unit);
      g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 1);
    }

  arena_test_close (consumer, thread);
  for (guint i = 0; i < 2 * N_UNITS; i++)
    {
      g_assert_true (arena_test_check_bytes (kept[i], i));
      g_bytes_unref (kept[i]);
    }
}

static void
test_pool (void)
{
  check (FALSE);
}

static void
test_ring (void)
{
  check (TRUE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spilled-views/pool", test_pool);
  arena_test_add ("/arena/spilled-views/ring", test_ring);
  return g_test_run ();
}
