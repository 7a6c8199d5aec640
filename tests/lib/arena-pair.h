/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "arena-test.h"
#include "sync/arena-killpoint-private.h"
#include "unit/arena-unit-builder.h"
#include "unit/arena-unit.h"

#include <stdatomic.h>

G_BEGIN_DECLS

/* Two processes that a test may kill: it starts tests/process/pair-consumer.c, which starts pair-producer.c. Both follow a
 * plan, check all they receive and all that their library tells them, and write what they have done to a page that
 * outlives them. Everything here asserts. */

typedef enum
{
  ARENA_TEST_CONSUMER,
  ARENA_TEST_PRODUCER,
  ARENA_TEST_N_SIDES, /* neither */
  ARENA_TEST_BOTH_SIDES,
} ArenaTestSide;

typedef enum
{
  ARENA_TEST_SIZES_MIXED, /* every second unit has large fields */
  ARENA_TEST_SIZES_LARGE,
  ARENA_TEST_SIZES_SMALL, /* all in the envelope */
} ArenaTestSizes;

typedef enum
{
  ARENA_TEST_PACE_FREE,
  ARENA_TEST_PACE_SLOW_CONSUMER, /* the producer waits for it */
  ARENA_TEST_PACE_SLOW_PRODUCER,
} ArenaTestPace;

typedef enum
{
  ARENA_TEST_WAITS_LONG,
  ARENA_TEST_WAITS_TRY,   /* again and again */
  ARENA_TEST_WAITS_SHORT, /* with a timeout, likewise */
} ArenaTestWaits;

#define ARENA_TEST_PLAN(X)                                                                                             \
  X (victim)       /* ArenaTestSide that will die; the other one expects it */                                         \
  X (ring)         /* else a pool */                                                                                   \
  X (any)          /* the pool reuses any segment */                                                                   \
  X (read_only)    /* and its consumer can't write to it */                                                            \
  X (room)         /* how many large units the arena has room for */                                                   \
  X (megabytes)    /* how much larger than that it is */                                                               \
  X (spill)        /* yet it has no room for the first field of a large unit, which travels outside */                 \
  X (buffer_size)                                                                                                      \
  X (sizes)                                                                                                            \
  X (pace)                                                                                                             \
  X (waits)                                                                                                            \
  X (held)         /* units that the consumer keeps */                                                                 \
  X (bare)         /* no ArenaWorker: the descriptor is handed over by hand, and nobody gives a pidfd */               \
  X (n_units)      /* of an iteration */                                                                               \
  X (n_iterations) /* 0: until somebody dies */                                                                        \
  X (stops)        /* every second iteration is ended early */

typedef struct
{
#define X(name) guint name;
  ARENA_TEST_PLAN (X)
#undef X
} ArenaTestPlan;

char     *arena_test_plan_to_text     (const ArenaTestPlan *plan) G_GNUC_WARN_UNUSED_RESULT;
void      arena_test_plan_from_text   (ArenaTestPlan       *plan,
                                       const char          *text);

/* Whether @side is among those that die. */
gboolean  arena_test_plan_may_die     (const ArenaTestPlan *plan,
                                       ArenaTestSide        side);

/* What both programs know of unit @unit. */
gsize     arena_test_plan_unit_size   (const ArenaTestPlan *plan);
gint      arena_test_plan_append      (const ArenaTestPlan *plan,
                                       guint64              unit,
                                       guint                field,
                                       ArenaUnitBuilder    *builder,
                                       GError             **error);
guint     arena_test_plan_n_fields    (const ArenaTestPlan *plan,
                                       guint64              unit);
void      arena_test_plan_check_unit  (const ArenaTestPlan *plan,
                                       ArenaUnit           *unit);

/* The timeout of one call, and whether the call has to be made again; @error is then cleared. */
gint64    arena_test_plan_timeout     (const ArenaTestPlan *plan);
gboolean  arena_test_plan_again       (const ArenaTestPlan *plan,
                                       GError             **error);
/* Sleeps where @side is the slow one. */
void      arena_test_plan_dawdle      (const ArenaTestPlan *plan,
                                       ArenaTestSide        side);

/* The page. Each word has one writer, which counts after the fact; a flag is up while it is in the act. */
typedef struct
{
  _Atomic gint64  pid[ARENA_TEST_N_SIDES];
  _Atomic gint64  gone_at[ARENA_TEST_N_SIDES]; /* when this side was told that the other is gone; 0: not yet */
  _Atomic guint64 committed;                   /* units */
  _Atomic guint64 committing;
  _Atomic guint64 ended;                       /* iterations finished by the producer */
  _Atomic guint64 ending;
  _Atomic guint64 taken;                       /* units, those of a stopped iteration included */
  _Atomic guint64 ends;                        /* iterations of which the consumer has read the end */
} ArenaTestProgress;

/* In the programs: their folder is in the environment. */
ArenaTestProgress *arena_test_progress_map (const char *dir) G_GNUC_WARN_UNUSED_RESULT;
/* What a program does first: its page, its pid, and a descriptor by whose end its death is seen. */
ArenaTestProgress *arena_test_pair_enter   (const ArenaTestPlan *plan,
                                            ArenaTestSide        side) G_GNUC_WARN_UNUSED_RESULT;

/* In the test. */
typedef struct
{
  ArenaTestPlan      plan;
  char              *text;  /* the plan, for messages */
  char              *dir;
  ArenaTestProgress *progress;
  pid_t              consumer;
  int                report_fd; /* both programs hold its other end */
  int                life_fd;   /* the victim holds its other end */
  gint64             died_at;   /* when the victim was seen to die, or was killed */
  int                consumer_status;
  int                producer_status; /* where the producer outlived its parent */
  guint              n_orphans;
} ArenaTestPair;

/* @point is "nick:n", or NULL. */
ArenaTestPair *arena_test_pair_new     (const ArenaTestPlan *plan,
                                        const char          *point) G_GNUC_WARN_UNUSED_RESULT;
void           arena_test_pair_kill    (ArenaTestPair       *self,
                                        ArenaTestSide        side,
                                        int                  signal_number);
/* Until no process is left. */
void           arena_test_pair_wait    (ArenaTestPair       *self);
/* That the victim died as planned, at @point (ARENA_N_KILL_POINTS: anywhere), and the other side got what it must. */
void           arena_test_pair_check   (ArenaTestPair       *self,
                                        ArenaKillPoint       point);
/* Whether that side has passed that point. */
gboolean       arena_test_pair_passed  (ArenaTestPair       *self,
                                        ArenaTestSide        side,
                                        ArenaKillPoint       point);
/* Microseconds from the victim's death to the notice. */
gint64         arena_test_pair_notice  (ArenaTestPair       *self);
void           arena_test_pair_free    (ArenaTestPair       *self);

/* How much slower than usual everything is, under a sanitizer or valgrind. */
guint          arena_test_slowness     (void);
/* No name of ours in /dev/shm. */
void           arena_test_assert_no_names (void);

G_END_DECLS
