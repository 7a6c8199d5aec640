/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-copy-policy-private.h"

#include <time.h>

/* Which stores are faster can't be known beforehand. It depends on whether the consumer's CPU shares a cache with this
 * one (in a virtual machine that changes while it runs), on what the consumer reads, and on who else uses the cache: one
 * and the same pool was 9 times faster by non-temporal stores, and half a minute later 2 times slower. So it is tried.
 *
 * What counts is not the copy but the unit's whole cycle, for whoever has to fetch the bytes from the other CPU or from
 * memory pays too, and is waited for. Therefore a lap is timed, from the end of one unit to the end of another, at least
 * once round the storage; the clock is read once a lap, and where nothing is copied never.
 *
 * Normally the usual kind is in use. After `wait` laps, or once its cost has changed much, the other one is on trial:
 * one lap that doesn't count, since it still meets the cache as the usual kind has left it, then five. Their second
 * lowest cost has to be a tenth better, or the usual kind stays and the next trial is twice as far away. A lap that is
 * hopeless ends where that shows, and a trial with the second of them: one may be somebody else's doing. */

#define LAP_SIZE_MIN     (G_GUINT64_CONSTANT (1) << 20)
#define LAP_SIZE_MAX     (G_GUINT64_CONSTANT (64) << 20)
#define TRIAL_STEP       (G_GUINT64_CONSTANT (1) << 20) /* bytes between two looks at a trial */
#define TRIAL_LAPS       (1 + ARENA_COPY_N_COSTS)
#define WAIT_MIN         64
#define WAIT_MAX         1024
#define CHANGE_LAPS      16 /* of the usual kind before a change of its cost counts */
#define HOPELESS         2  /* times the usual cost */
#define HOPELESS_AT_ONCE 4  /* the same in the lap that doesn't count */

void
arena_copy_policy_init (ArenaCopyPolicy *self,
                        guint64          rotation,
                        guint            delay)
{
  ArenaCopyKind guess = arena_copy_guess_kind (rotation);

  *self = (ArenaCopyPolicy) {
    .guess = guess,
    .kind = guess,
    .wait = MAX (delay, TRIAL_LAPS),
    .lap_size = CLAMP (rotation, LAP_SIZE_MIN, LAP_SIZE_MAX),
  };
  arena_copy_policy_restart (self);
}

/* The next unit that copies starts the clock. */
void
arena_copy_policy_restart (ArenaCopyPolicy *self)
{
  self->bytes = 0;
  self->look_at = 1;
  self->started = 0;
}

gint64
arena_copy_policy_clock (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

/* The second lowest: other programs make most laps slower where they want the CPU too, and one may be too fast, when the
 * consumer had caught up meanwhile. */
static guint64
typical (const guint64 *costs)
{
  guint64 lowest = G_MAXUINT64;
  guint64 second = G_MAXUINT64;

  for (guint i = 0; i < ARENA_COPY_N_COSTS; i++)
    {
      second = MIN (second, MAX (lowest, costs[i]));
      lowest = MIN (lowest, costs[i]);
    }

  return second;
}

static void
use_other (ArenaCopyPolicy *self,
           gboolean         trial)
{
  self->kind = self->kind == ARENA_COPY_PLAIN ? ARENA_COPY_STREAM : ARENA_COPY_PLAIN;
  self->trial = trial;
  self->n_laps = 0;
  self->n_hopeless = 0;
}

static void
note_cost (ArenaCopyPolicy *self,
           guint64          cost)
{
  self->costs[self->n_laps % ARENA_COPY_N_COSTS] = cost;
  self->n_laps++;
}

static gboolean
is_hopeless (const ArenaCopyPolicy *self,
             guint64                cost)
{
  return self->trial && cost / (self->n_laps == 0 ? HOPELESS_AT_ONCE : HOPELESS) > self->usual;
}

static void
judge_trial (ArenaCopyPolicy *self,
             guint64          cost)
{
  gboolean lost;
  guint64 middle;

  if (is_hopeless (self, cost))
    self->n_hopeless++;
  lost = self->n_hopeless == 2;
  note_cost (self, cost);
  if (!lost && self->n_laps < TRIAL_LAPS)
    return;

  middle = typical (self->costs);
  if (lost || middle > self->usual - self->usual / 10)
    {
      self->wait = CLAMP (2 * self->wait, WAIT_MIN, WAIT_MAX);
      use_other (self, FALSE);
      return;
    }

  self->wait = WAIT_MIN;
  self->usual = middle;
  self->trial = FALSE;
}

static void
judge_usual (ArenaCopyPolicy *self,
             guint64          cost)
{
  gboolean changed;
  guint64 middle;

  note_cost (self, cost);
  if (self->n_laps < TRIAL_LAPS)
    return;

  middle = typical (self->costs);
  changed = self->n_laps >= CHANGE_LAPS && self->usual > 0 &&
            (middle > self->usual / 2 * 3 || middle < self->usual / 3 * 2);
  if (!changed && self->n_laps < self->wait)
    return;

  if (changed)
    self->wait = WAIT_MIN;
  self->usual = MAX (middle, 1);
  use_other (self, TRUE);
}

void
arena_copy_policy_look (ArenaCopyPolicy *self,
                        gint64           now)
{
  guint64 elapsed = (guint64) MAX (now - self->started, 1);
  guint64 cost = elapsed * 1000 / (MAX (self->bytes, self->lap_size) >> 10);

  if (self->started != 0)
    {
      /* In the middle of a lap the rest is taken to be free, and still it may be too much. */
      if (self->bytes < self->lap_size && !is_hopeless (self, cost))
        {
          self->look_at = MIN (self->bytes + TRIAL_STEP, self->lap_size);
          return;
        }

      if (self->trial)
        judge_trial (self, cost);
      else
        judge_usual (self, cost);
    }

  self->bytes = 0;
  self->started = now;
  self->look_at = self->trial ? MIN (TRIAL_STEP, self->lap_size) : self->lap_size;
}
