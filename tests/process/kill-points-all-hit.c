/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-kill.h"

/* Every point of the header kills somebody, and each process passes those points that the matrix thinks it does: by
 * what the processes themselves log. */

static gboolean passed[2][ARENA_TEST_N_SIDES][ARENA_N_KILL_POINTS];

static void
note_passed (ArenaTestPair *pair)
{
  for (ArenaTestSide side = 0; side < ARENA_TEST_N_SIDES; side++)
    for (guint i = 0; i < ARENA_N_KILL_POINTS; i++)
      passed[pair->plan.ring][side][i] |= arena_test_pair_passed (pair, side, i);
}

static void
kill_at_each (gboolean      ring,
              ArenaTestSide victim)
{
  for (guint i = 0; i < ARENA_N_KILL_POINTS; i++)
    {
      ArenaTestPlan plan;
      ArenaTestPair *pair;

      if (!arena_test_kill_has_point (i, ring, victim))
        continue;

      arena_test_kill_plan (&plan, i, ring, victim, i);
      pair = arena_test_kill_run (&plan, i, 1);
      note_passed (pair);
      arena_test_pair_free (pair);
    }
}

static void
test_each_kills (void)
{
  for (guint ring = 0; ring < 2; ring++)
    for (ArenaTestSide victim = 0; victim < ARENA_TEST_N_SIDES; victim++)
      kill_at_each (ring != 0, victim);
}

static void
test_point (gconstpointer data)
{
  guint point = GPOINTER_TO_UINT (data);
  guint n = 0;

  for (guint ring = 0; ring < 2; ring++)
    for (ArenaTestSide side = 0; side < ARENA_TEST_N_SIDES; side++)
      {
        g_test_message ("%s, %s", ring ? "ring" : "pool", side == ARENA_TEST_CONSUMER ? "consumer" : "producer");
        g_assert_cmpint (passed[ring][side][point], ==, arena_test_kill_has_point (point, ring != 0, side));
        n += passed[ring][side][point] ? 1 : 0;
      }

  g_assert_cmpuint (n, >, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/kill-points/each-kills", test_each_kills);
  for (guint i = 0; i < ARENA_N_KILL_POINTS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/arena/kill-points/hit/%s", arena_kill_point_nick (i));

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_point);
    }

  return g_test_run ();
}
