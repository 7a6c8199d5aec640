/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-kill.h"

#include <signal.h>

/* A stopped process is not a dead one: its peer waits, and goes on when it does. Death is noticed all the same where it
 * comes to a stopped process, or while the survivor was stopped itself. */

#define SOME_UNITS 20
#define QUIET_US   100000 /* long against every wait, spin and pause of the two programs */

typedef struct
{
  ArenaTestPair *pair;
  guint64        taken; /* what it must reach */
  guint64        sum;   /* of both counters, as last seen */
  gint64         since;
} Watch;

static gboolean
has_taken (gpointer data)
{
  Watch *watch = data;

  return atomic_load (&watch->pair->progress->taken) >= watch->taken;
}

static void
wait_for_units (ArenaTestPair *pair,
                guint64        n)
{
  Watch watch = { .pair = pair, .taken = atomic_load (&pair->progress->taken) + n };

  g_assert_true (arena_test_wait_until (has_taken, &watch, 5000 * arena_test_slowness ()));
}

static gboolean
is_quiet (gpointer data)
{
  Watch *watch = data;
  guint64 sum = atomic_load (&watch->pair->progress->taken) + atomic_load (&watch->pair->progress->committed);

  if (sum != watch->sum)
    watch->since = g_get_monotonic_time ();
  watch->sum = sum;
  return g_get_monotonic_time () - watch->since >= QUIET_US;
}

static ArenaTestPair *
start (gboolean      ring,
       ArenaTestSide victim,
       guint         variant)
{
  ArenaTestPlan plan;
  ArenaTestPair *pair;

  arena_test_kill_plan (&plan, ARENA_KILL_BEFORE_PUBLISH, ring, victim, variant);
  pair = arena_test_pair_new (&plan, NULL);
  wait_for_units (pair, SOME_UNITS);
  return pair;
}

static void
finish (ArenaTestPair *pair)
{
  arena_test_pair_wait (pair);
  arena_test_pair_check (pair, ARENA_N_KILL_POINTS);
  arena_test_pair_free (pair);
}

/* Stops it until the other one has nothing more to do but wait. */
static void
stop_until_quiet (ArenaTestPair *pair,
                  ArenaTestSide  side)
{
  Watch watch = { .pair = pair, .since = g_get_monotonic_time () };

  arena_test_pair_kill (pair, side, SIGSTOP);
  g_assert_true (arena_test_wait_until (is_quiet, &watch, 5000 * arena_test_slowness ()));
  for (ArenaTestSide i = 0; i < ARENA_TEST_N_SIDES; i++)
    {
      g_assert_cmpint (atomic_load (&pair->progress->gone_at[i]), ==, 0);
      g_assert_true (arena_test_process_exists (atomic_load (&pair->progress->pid[i])));
    }
}

static void
stop_and_continue (ArenaTestSide side)
{
  for (guint variant = 0; variant < 6; variant++)
    {
      ArenaTestPair *pair = start (variant % 2 != 0, side, variant);

      stop_until_quiet (pair, side);
      arena_test_pair_kill (pair, side, SIGCONT);
      wait_for_units (pair, SOME_UNITS);

      stop_until_quiet (pair, side);
      arena_test_pair_kill (pair, side, SIGKILL);
      finish (pair);
    }
}

static void
test_producer (void)
{
  stop_and_continue (ARENA_TEST_PRODUCER);
}

static void
test_consumer (void)
{
  stop_and_continue (ARENA_TEST_CONSUMER);
}

static void
test_stopped_survivor (void)
{
  for (guint variant = 0; variant < 6; variant++)
    {
      ArenaTestSide victim = variant % 2 == 0 ? ARENA_TEST_CONSUMER : ARENA_TEST_PRODUCER;
      ArenaTestSide survivor = variant % 2 == 0 ? ARENA_TEST_PRODUCER : ARENA_TEST_CONSUMER;
      ArenaTestPair *pair = start (variant >= 3, victim, variant);

      arena_test_pair_kill (pair, survivor, SIGSTOP);
      arena_test_pair_kill (pair, victim, SIGKILL);
      g_usleep (QUIET_US / 5);
      arena_test_pair_kill (pair, survivor, SIGCONT);
      finish (pair);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/stopped-peer/producer", test_producer);
  arena_test_add ("/arena/stopped-peer/consumer", test_consumer);
  arena_test_add ("/arena/stopped-peer/survivor", test_stopped_survivor);
  return g_test_run ();
}
