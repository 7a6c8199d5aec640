/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-kill.h"

#include <signal.h>
#include <sys/wait.h>

/* Nobody is left to tidy up when both processes die, and nothing has to be: a run after that finds no trace. C03 */

#define DEATHS    20
#define RUN_US    20000
#define MEGABYTES 4

static gboolean
producer_started (gpointer data)
{
  ArenaTestPair *pair = data;

  return atomic_load (&pair->progress->pid[ARENA_TEST_PRODUCER]) != 0;
}

/* The second may have noticed the death of the first and be on its way out, but nothing else. */
static void
assert_died (int status)
{
  g_assert_true (status == 0 || (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL));
}

static void
kill_both (gboolean ring,
           guint    i)
{
  ArenaTestSide first = i % 2 == 0 ? ARENA_TEST_CONSUMER : ARENA_TEST_PRODUCER;
  ArenaTestPlan plan;
  ArenaTestPair *pair;

  arena_test_kill_plan (&plan, ARENA_KILL_BEFORE_PUBLISH, ring, ARENA_TEST_BOTH_SIDES, i);
  plan.room = 4;
  plan.megabytes = MEGABYTES;
  pair = arena_test_pair_new (&plan, NULL);
  g_assert_true (arena_test_wait_until (producer_started, pair, 5000 * arena_test_slowness ()));
  g_usleep ((gulong) g_test_rand_int_range (0, RUN_US));

  arena_test_pair_kill (pair, first, SIGKILL);
  arena_test_pair_kill (pair, first == ARENA_TEST_CONSUMER ? ARENA_TEST_PRODUCER : ARENA_TEST_CONSUMER, SIGKILL);
  arena_test_pair_wait (pair);
  assert_died (pair->consumer_status);
  assert_died (pair->producer_status);
  arena_test_assert_no_names ();
  arena_test_pair_free (pair);
}

static void
run_normally (gboolean ring)
{
  ArenaTestPlan plan;
  ArenaTestPair *pair;

  arena_test_kill_plan (&plan, ARENA_KILL_BEFORE_PUBLISH, ring, ARENA_TEST_N_SIDES, 0);
  plan.n_iterations = 3;
  pair = arena_test_pair_new (&plan, NULL);
  arena_test_pair_wait (pair);
  arena_test_pair_check (pair, ARENA_N_KILL_POINTS);
  g_assert_cmpuint (atomic_load (&pair->progress->taken), ==, plan.n_iterations * plan.n_units);
  g_assert_cmpuint (atomic_load (&pair->progress->ends), ==, plan.n_iterations);
  arena_test_pair_free (pair);
}

static void
test_pool (void)
{
  for (guint i = 0; i < DEATHS; i++)
    kill_both (FALSE, i);
  run_normally (FALSE);
}

static void
test_ring (void)
{
  for (guint i = 0; i < DEATHS; i++)
    kill_both (TRUE, i);
  run_normally (TRUE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/both-die/pool", test_pool);
  arena_test_add ("/arena/both-die/ring", test_ring);
  return g_test_run ();
}
