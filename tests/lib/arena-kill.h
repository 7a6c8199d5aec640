/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "arena-pair.h"

G_BEGIN_DECLS

/* Pairs in which one side is killed at a named point. */

/* Whether the point is passed by that side over that storage. Every point of the header is passed by somebody. */
gboolean arena_test_kill_has_point (ArenaKillPoint       point,
                                    gboolean             ring,
                                    ArenaTestSide        victim);
/* A plan in which the victim passes the point again and again, a different one for each repetition. */
void     arena_test_kill_plan      (ArenaTestPlan       *plan,
                                    ArenaKillPoint       point,
                                    gboolean             ring,
                                    ArenaTestSide        victim,
                                    guint                repetition);
/* Kills at the @count-th passing and checks. The pair is still to be freed. */
ArenaTestPair *arena_test_kill_run (const ArenaTestPlan *plan,
                                    ArenaKillPoint       point,
                                    guint                count) G_GNUC_WARN_UNUSED_RESULT;

/* main() of tests/process/kill-matrix-*.c: one test for each point that this victim can pass. */
int      arena_test_kill_matrix    (int                 *argc,
                                    char              ***argv,
                                    gboolean             ring,
                                    ArenaTestSide        victim);

G_END_DECLS
