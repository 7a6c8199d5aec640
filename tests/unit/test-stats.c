/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "backend/arena-stats-private.h"

static void
test_boxed (void)
{
  ArenaStats stats = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };
  g_autoptr (ArenaStats) copy = arena_stats_copy (&stats);
  g_autoptr (ArenaStats) boxed = g_boxed_copy (ARENA_TYPE_STATS, copy);

  g_assert_cmpuint (arena_stats_get_units (boxed), ==, 1);
  g_assert_cmpuint (arena_stats_get_bytes (boxed), ==, 2);
  g_assert_cmpuint (arena_stats_get_occupancy (boxed), ==, 3);
  g_assert_cmpuint (arena_stats_get_peak_occupancy (boxed), ==, 4);
  g_assert_cmpuint (arena_stats_get_held_units (boxed), ==, 5);
  g_assert_cmpuint (arena_stats_get_consumer_waits (boxed), ==, 6);
  g_assert_cmpint (arena_stats_get_consumer_wait_time (boxed), ==, 7);
  g_assert_cmpuint (arena_stats_get_producer_waits (boxed), ==, 8);
  g_assert_cmpint (arena_stats_get_producer_wait_time (boxed), ==, 9);
  g_assert_cmpuint (arena_stats_get_reserved_bytes (boxed), ==, 10);
  g_assert_cmpuint (arena_stats_get_resident_bytes (boxed), ==, 11);
  g_assert_cmpuint (arena_stats_get_pinned_bytes (boxed), ==, 12);
  g_assert_cmpuint (arena_stats_get_output_bytes (boxed), ==, 13);
  g_assert_cmpuint (arena_stats_get_spilled_bytes (boxed), ==, 14);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/stats/boxed", test_boxed);
  return g_test_run ();
}
