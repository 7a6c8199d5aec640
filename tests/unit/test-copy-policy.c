/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "memory/arena-copy-policy-private.h"

/* A machine on which a unit takes as long as is written here. */
typedef struct
{
  ArenaCopyPolicy policy;
  gsize           unit;
  gint64          costs[2]; /* ns per unit, by kind */
  gint64          now;
  guint           n_looks;
  guint           n_units[2];
} Machine;

#define DELAY 6

static Machine
machine (guint64 rotation,
         gsize   unit,
         gint64  plain,
         gint64  stream)
{
  Machine self = { .unit = unit, .costs = { plain, stream }, .now = 1000 };

  arena_copy_policy_init (&self.policy, rotation, DELAY);
  self.policy.guess = self.policy.kind = ARENA_COPY_PLAIN;
  return self;
}

/* As arena_copy_policy_copy() and _end_unit(), without the copy. */
static void
run_unit (Machine *self,
          gint64   more)
{
  ArenaCopyKind kind = arena_copy_policy_choose (&self->policy, self->unit);

  self->n_units[kind]++;
  self->now += self->costs[kind] + more;
  if (self->unit >= ARENA_COPY_LEARN_MIN)
    self->policy.bytes += self->unit;
  if (self->policy.bytes >= self->policy.look_at)
    {
      self->n_looks++;
      arena_copy_policy_look (&self->policy, self->now);
    }
}

static void
run (Machine *self,
     guint    n_units)
{
  self->n_units[0] = self->n_units[1] = self->n_looks = 0;
  for (guint i = 0; i < n_units; i++)
    run_unit (self, 0);
}

static ArenaCopyKind
usual_kind (const Machine *self)
{
  return (self->policy.kind == ARENA_COPY_STREAM) != self->policy.trial ? ARENA_COPY_STREAM : ARENA_COPY_PLAIN;
}

#define MIB (1 << 20)

static void
test_guess (void)
{
  ArenaCopyPolicy policy;

  arena_copy_policy_init (&policy, 4096, DELAY);
  g_assert_cmpint (arena_copy_policy_choose (&policy, 64 * MIB), ==, ARENA_COPY_PLAIN);
  arena_copy_policy_init (&policy, G_GUINT64_CONSTANT (1) << 40, DELAY);
  g_assert_cmpint (arena_copy_policy_choose (&policy, 64 * MIB), ==, ARENA_COPY_STREAM);
  g_assert_cmpint (arena_copy_policy_choose (&policy, 1), ==, ARENA_COPY_STREAM);
}

static void
test_learns (void)
{
  Machine faster = machine (20 * MIB, 4 * MIB, 400000, 200000);
  Machine slower = machine (20 * MIB, 4 * MIB, 200000, 400000);

  run (&faster, 1 + 5 * (DELAY + 6));
  g_assert_cmpint (usual_kind (&faster), ==, ARENA_COPY_STREAM);
  run (&slower, 1 + 5 * (DELAY + 6));
  g_assert_cmpint (usual_kind (&slower), ==, ARENA_COPY_PLAIN);
  g_assert_cmpuint (slower.n_units[ARENA_COPY_STREAM], >, 0);
}

/* What is not clearly better is left alone: 5 % is noise. */
static void
test_needs_a_reason (void)
{
  Machine self = machine (20 * MIB, 4 * MIB, 200000, 190000);

  run (&self, 2000);
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_PLAIN);
}

/* A kind that has lost costs next to nothing afterwards, however slow it is. */
static void
test_trials_are_rare (void)
{
  Machine self = machine (5 * MIB, MIB, 44000, 440000);

  run (&self, 20000);
  g_assert_cmpuint (self.n_units[ARENA_COPY_STREAM], >, 0);
  run (&self, 20000);
  g_assert_cmpuint (self.n_units[ARENA_COPY_STREAM], >, 0);
  g_assert_cmpuint (self.n_units[ARENA_COPY_STREAM], <, 25);
}

static void
test_hopeless_ends_early (void)
{
  Machine self = machine (64 * MIB, MIB, 44000, 440000);

  run (&self, 1 + 64 * (DELAY + 6));
  g_assert_cmpuint (self.n_units[ARENA_COPY_STREAM], <, 64);
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_PLAIN);
}

/* The sides have moved to CPUs that share no cache. */
static void
test_follows_a_change (void)
{
  Machine self = machine (5 * MIB, MIB, 29000, 51000);

  run (&self, 20000);
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_PLAIN);
  self.costs[ARENA_COPY_PLAIN] = 410000;
  self.costs[ARENA_COPY_STREAM] = 44000;
  run (&self, 5 * 16);
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_STREAM);
  self.costs[ARENA_COPY_PLAIN] = 29000;
  self.costs[ARENA_COPY_STREAM] = 51000;
  run (&self, 5 * 1030);
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_PLAIN);
}

/* Another program took the CPU in some laps of the trial. */
static void
test_forgives_slow_laps (void)
{
  Machine self = machine (5 * MIB, MIB, 60000, 40000);

  run (&self, 1 + 5 * (DELAY + 2));
  g_assert_true (self.policy.trial);
  for (guint lap = 0; lap < 3; lap++)
    {
      run_unit (&self, 150000);
      run (&self, 4);
    }
  run (&self, 2 * 5);
  g_assert_false (self.policy.trial);
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_STREAM);
}

/* Between two iterations an hour may pass. */
static void
test_restart_drops_the_lap (void)
{
  Machine self = machine (5 * MIB, MIB, 60000, 40000);

  run (&self, 3);
  for (guint i = 0; i < 16; i++)
    {
      self.now += G_GINT64_CONSTANT (3600000000000);
      arena_copy_policy_restart (&self.policy);
      run (&self, 6);
      for (guint j = 0; j < ARENA_COPY_N_COSTS; j++)
        g_assert_cmpuint (self.policy.costs[j], <, 100000);
    }
  g_assert_cmpint (usual_kind (&self), ==, ARENA_COPY_STREAM);
}

/* Small units neither teach nor follow, and never look at the clock. */
static void
test_small_units (void)
{
  Machine self = machine (20 * MIB, ARENA_COPY_LEARN_MIN - 1, 4000, 1000);

  run (&self, 100000);
  g_assert_cmpuint (self.n_looks, ==, 0);
  g_assert_cmpuint (self.n_units[ARENA_COPY_STREAM], ==, 0);
}

/* 64 KiB take about a microsecond: the clock is read every 16 units at most. */
static void
test_looks_seldom (void)
{
  Machine self = machine (5 * (64 << 10), 64 << 10, 1200, 3000);

  run (&self, 16000);
  g_assert_cmpuint (self.n_looks, <=, 1001);
  g_assert_cmpuint (self.n_units[ARENA_COPY_STREAM], <, 16000 / 50);
}

static void
test_copies (void)
{
  guint8 *source = g_malloc (ARENA_COPY_LEARN_MIN);
  guint8 *target = g_malloc (ARENA_COPY_LEARN_MIN);
  ArenaCopyPolicy policy;

  arena_test_fill_pattern (source, ARENA_COPY_LEARN_MIN, 5);
  arena_copy_policy_init (&policy, MIB, DELAY);
  arena_copy_policy_copy (&policy, target, source, 100);
  g_assert_cmpuint (policy.bytes, ==, 0);
  arena_copy_policy_end_unit (&policy);
  g_assert_cmpint (policy.started, ==, 0);

  arena_copy_policy_copy (&policy, target, source, ARENA_COPY_LEARN_MIN);
  g_assert_cmpmem (target, ARENA_COPY_LEARN_MIN, source, ARENA_COPY_LEARN_MIN);
  g_assert_cmpuint (policy.bytes, ==, ARENA_COPY_LEARN_MIN);
  arena_copy_policy_end_unit (&policy);
  g_assert_cmpint (policy.started, >, 0);
  g_free (source);
  g_free (target);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/copy-policy/guesses-by-footprint", test_guess);
  arena_test_add ("/arena/copy-policy/learns-which-is-faster", test_learns);
  arena_test_add ("/arena/copy-policy/needs-a-reason", test_needs_a_reason);
  arena_test_add ("/arena/copy-policy/trials-are-rare", test_trials_are_rare);
  arena_test_add ("/arena/copy-policy/hopeless-ends-early", test_hopeless_ends_early);
  arena_test_add ("/arena/copy-policy/follows-a-change", test_follows_a_change);
  arena_test_add ("/arena/copy-policy/forgives-slow-laps", test_forgives_slow_laps);
  arena_test_add ("/arena/copy-policy/restart-drops-the-lap", test_restart_drops_the_lap);
  arena_test_add ("/arena/copy-policy/small-units-do-not-count", test_small_units);
  arena_test_add ("/arena/copy-policy/looks-seldom", test_looks_seldom);
  arena_test_add ("/arena/copy-policy/copies", test_copies);
  return g_test_run ();
}
