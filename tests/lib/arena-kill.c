/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-kill.h"

/* Who passes which point, and what it takes. tests/process/kill-points-all-hit.c checks this table against what the
 * processes log: a point without an entry, or one that no longer stands where it did, fails there. */

#define REPETITIONS       20
#define FEWER_REPETITIONS 6 /* where everything is slow */

typedef enum
{
  POOL_CONSUMER = 1 << 0,
  POOL_PRODUCER = 1 << 1,
  RING_CONSUMER = 1 << 2,
  RING_PRODUCER = 1 << 3,
  CONSUMER = POOL_CONSUMER | RING_CONSUMER,
  PRODUCER = POOL_PRODUCER | RING_PRODUCER,
  BOTH = CONSUMER | PRODUCER,
} Who;

typedef struct
{
  Who           who;
  gboolean      once;    /* in a process's life */
  gboolean      storage; /* only units that use the arena */
  gboolean      spill;   /* only those that have no room there */
  gboolean      stop;    /* only iterations that are ended early */
  gboolean      queue;   /* only where the producer waits for the queue */
  ArenaTestPace pace;    /* FREE: any will do */
} Point;

static const Point points[ARENA_N_KILL_POINTS] = {
  [ARENA_KILL_BEFORE_HELLO] = { PRODUCER, .once = TRUE },
  [ARENA_KILL_AFTER_HELLO] = { PRODUCER, .once = TRUE },
  [ARENA_KILL_AFTER_MAP] = { PRODUCER, .once = TRUE },
  [ARENA_KILL_AFTER_SEAL] = { PRODUCER, .once = TRUE },
  [ARENA_KILL_BEFORE_REPLY] = { PRODUCER, .once = TRUE },
  [ARENA_KILL_AFTER_REPLY] = { PRODUCER, .once = TRUE },
  [ARENA_KILL_AFTER_FIELD] = { PRODUCER, .storage = TRUE },
  [ARENA_KILL_BEFORE_SPILL_SEND] = { PRODUCER, .storage = TRUE, .spill = TRUE },
  [ARENA_KILL_AFTER_SPILL_SEND] = { PRODUCER, .storage = TRUE, .spill = TRUE },
  [ARENA_KILL_BEFORE_PUBLISH] = { PRODUCER },
  [ARENA_KILL_AFTER_PUBLISH] = { PRODUCER },
  [ARENA_KILL_AFTER_PUBLISH_WAKE] = { PRODUCER, .pace = ARENA_TEST_PACE_SLOW_PRODUCER },
  [ARENA_KILL_AFTER_WANT_STORE] = { BOTH },
  [ARENA_KILL_AFTER_TAKE_STORE] = { CONSUMER },
  [ARENA_KILL_AFTER_TAKE_WAKE] = { CONSUMER, .queue = TRUE, .pace = ARENA_TEST_PACE_SLOW_CONSUMER },
  [ARENA_KILL_AFTER_SPILL_TAKE] = { CONSUMER, .storage = TRUE, .spill = TRUE },
  [ARENA_KILL_BEFORE_COPY_OUT] = { RING_CONSUMER, .storage = TRUE },
  [ARENA_KILL_AFTER_COPY_OUT] = { RING_CONSUMER, .storage = TRUE },
  [ARENA_KILL_BEFORE_RELEASE] = { CONSUMER, .storage = TRUE },
  [ARENA_KILL_AFTER_FREED_STORE] = { POOL_CONSUMER, .storage = TRUE },
  [ARENA_KILL_AFTER_RELEASE_STORE] = { CONSUMER, .storage = TRUE },
  [ARENA_KILL_AFTER_RELEASE_WAKE] = { CONSUMER, .storage = TRUE, .pace = ARENA_TEST_PACE_SLOW_CONSUMER },
  [ARENA_KILL_AFTER_EPOCH_STORE] = { CONSUMER },
  [ARENA_KILL_AFTER_STOP_STORE] = { CONSUMER, .stop = TRUE },
  [ARENA_KILL_AFTER_STATE_STORE] = { CONSUMER, .once = TRUE },
  [ARENA_KILL_BEFORE_END] = { PRODUCER },
  [ARENA_KILL_AFTER_END] = { PRODUCER },
};

gboolean
arena_test_kill_has_point (ArenaKillPoint point,
                           gboolean       ring,
                           ArenaTestSide  victim)
{
  Who consumer = ring ? RING_CONSUMER : POOL_CONSUMER;
  Who producer = ring ? RING_PRODUCER : POOL_PRODUCER;

  return (points[point].who & (victim == ARENA_TEST_CONSUMER ? consumer : producer)) != 0;
}

/* Periods without a common divisor, so that few combinations come twice. */
void
arena_test_kill_plan (ArenaTestPlan  *plan,
                      ArenaKillPoint  point,
                      gboolean        ring,
                      ArenaTestSide   victim,
                      guint           repetition)
{
  const Point *info = &points[point];
  gboolean slow = info->pace == ARENA_TEST_PACE_SLOW_CONSUMER;
  gboolean tight = !info->queue && (slow || repetition % 2 == 0);

  *plan = (ArenaTestPlan) {
    .victim = victim,
    .ring = ring ? 1 : 0,
    .any = !ring && (repetition / 3) % 2 == 1 ? 1 : 0,
    .read_only = !ring && (repetition / 5) % 2 == 1 ? 1 : 0,
    .room = 1 + repetition % (ring ? 2 : 3),
    .buffer_size = tight ? 3 : 1,
    .sizes = repetition % (info->storage ? 2 : 3),
    .pace = info->pace != ARENA_TEST_PACE_FREE ? info->pace : (repetition / 2) % 3,
    .waits = (repetition / 3) % 3,
    .bare = (repetition / 4) % 2,
    .spill = info->spill ? 1 : 0,
    .n_units = 5,
    .stops = info->stop || repetition % 5 == 4 || repetition % 4 == 3 ? 1 : 0,
  };

  /* The queue must not be full before the arena is. */
  if (slow && tight)
    plan->sizes = ARENA_TEST_SIZES_LARGE;

  /* One more and the consumer would starve its producer. */
  plan->held = repetition % plan->room;
  /* Then it is the queue that is waited for. */
  if (!tight)
    plan->room += 2;
  /* A consumer says nothing but that it closes: between iterations or in the middle of one. */
  if (point == ARENA_KILL_AFTER_STATE_STORE)
    plan->n_iterations = 3 + repetition % 2;
}

ArenaTestPair *
arena_test_kill_run (const ArenaTestPlan *plan,
                     ArenaKillPoint       point,
                     guint                count)
{
  g_autofree char *text = g_strdup_printf ("%s:%u", arena_kill_point_nick (point), count);
  ArenaTestPair *pair = arena_test_pair_new (plan, text);

  g_test_message ("%s %s", text, pair->text);
  arena_test_pair_wait (pair);
  arena_test_pair_check (pair, point);
  g_assert_true (arena_test_pair_passed (pair, plan->victim, point));
  return pair;
}

typedef struct
{
  ArenaKillPoint point;
  gboolean       ring;
  ArenaTestSide  victim;
} Case;

/* The first passing, later ones, and some that only come in a later iteration. */
static guint
choose_count (const Case *test_case,
              guint       repetition)
{
  const guint counts[] = { 1, 2, 3, 4, 5, 7, 9, 12, 16, 21 };

  if (points[test_case->point].once)
    return 1;
  if (points[test_case->point].stop)
    return 1 + repetition % 4;

  return counts[repetition % G_N_ELEMENTS (counts)];
}

static void
run_case (gconstpointer data)
{
  const Case *test_case = data;
  guint n = arena_test_slowness () > 1 ? FEWER_REPETITIONS : REPETITIONS;
  gint64 slowest = 0;
  ArenaTestResources resources;

  arena_test_resources_begin (&resources);
  for (guint i = 0; i < n; i++)
    {
      ArenaTestPair *pair;
      ArenaTestPlan plan;

      arena_test_kill_plan (&plan, test_case->point, test_case->ring, test_case->victim, i);
      pair = arena_test_kill_run (&plan, test_case->point, choose_count (test_case, i));
      slowest = MAX (slowest, arena_test_pair_notice (pair));
      arena_test_pair_free (pair);
    }

  arena_test_resources_end (&resources);
  g_test_message ("%u kills, noticed within %" G_GINT64_FORMAT " us", n, slowest);
}

int
arena_test_kill_matrix (int           *argc,
                        char        ***argv,
                        gboolean       ring,
                        ArenaTestSide  victim)
{
  arena_test_init (argc, argv);
  for (guint i = 0; i < ARENA_N_KILL_POINTS; i++)
    if (arena_test_kill_has_point (i, ring, victim))
      {
        g_autofree char *path =
          g_strdup_printf ("/arena/kill-matrix/%s/%s/%s", ring ? "ring" : "pool",
                           victim == ARENA_TEST_CONSUMER ? "consumer" : "producer", arena_kill_point_nick (i));
        Case *test_case = g_new (Case, 1);

        *test_case = (Case) { i, ring, victim };
        g_test_add_data_func_full (path, test_case, run_case, g_free);
      }

  return g_test_run ();
}
