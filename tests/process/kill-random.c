/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-kill.h"

#include <signal.h>

/* The named points are where the library's authors thought of a death; this is everywhere else. GTest prints the seed,
 * and --seed repeats the choices, though not what the scheduler makes of them. */

#define PRODUCER_KILLS   100 /* over each storage */
#define CONSUMER_KILLS   50
#define START_US         40000 /* a process is up and running after less */
#define RUN_US           20000
#define LARGE_MEGABYTES  64
#define LARGE_EVERY      16

static gboolean
producer_started (gpointer data)
{
  ArenaTestPair *pair = data;

  return atomic_load (&pair->progress->pid[ARENA_TEST_PRODUCER]) != 0;
}

static void
kill_one (gboolean      ring,
          ArenaTestSide victim,
          guint         i)
{
  ArenaTestPlan plan;
  ArenaTestPair *pair;

  arena_test_kill_plan (&plan, ARENA_KILL_BEFORE_PUBLISH, ring, victim, (guint) g_test_rand_int_range (0, 1000));
  if (i % LARGE_EVERY == 0)
    plan.megabytes = LARGE_MEGABYTES;
  else
    plan.spill = (guint) g_test_rand_bit ();

  pair = arena_test_pair_new (&plan, NULL);
  if (victim == ARENA_TEST_PRODUCER)
    g_assert_true (arena_test_wait_until (producer_started, pair, 5000 * arena_test_slowness ()));
  g_usleep ((gulong) g_test_rand_int_range (0, victim == ARENA_TEST_PRODUCER ? RUN_US : START_US + RUN_US) *
            (i % 2 == 0 ? 1 : arena_test_slowness ()));

  arena_test_pair_kill (pair, victim, SIGKILL);
  arena_test_pair_wait (pair);
  arena_test_pair_check (pair, ARENA_N_KILL_POINTS);
  g_test_message ("%s; %" G_GUINT64_FORMAT " units; noticed after %" G_GINT64_FORMAT " us", pair->text,
                  atomic_load (&pair->progress->taken), arena_test_pair_notice (pair));
  arena_test_pair_free (pair);
}

static void
kill_many (gboolean      ring,
           ArenaTestSide victim,
           guint         n)
{
  n = MAX (n / arena_test_slowness (), 10);
  for (guint i = 0; i < n; i++)
    kill_one (ring, victim, i);
}

static void
test_pool_producer (void)
{
  kill_many (FALSE, ARENA_TEST_PRODUCER, PRODUCER_KILLS);
}

static void
test_ring_producer (void)
{
  kill_many (TRUE, ARENA_TEST_PRODUCER, PRODUCER_KILLS);
}

static void
test_pool_consumer (void)
{
  kill_many (FALSE, ARENA_TEST_CONSUMER, CONSUMER_KILLS);
}

static void
test_ring_consumer (void)
{
  kill_many (TRUE, ARENA_TEST_CONSUMER, CONSUMER_KILLS);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/kill-random/pool/producer", test_pool_producer);
  arena_test_add ("/arena/kill-random/ring/producer", test_ring_producer);
  arena_test_add ("/arena/kill-random/pool/consumer", test_pool_consumer);
  arena_test_add ("/arena/kill-random/ring/consumer", test_ring_consumer);
  return g_test_run ();
}
