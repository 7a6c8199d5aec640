/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Every place at which a test may kill a process: between any two steps that the other side can tell apart. */
#define ARENA_KILL_POINTS(X)                                                                                           \
  X (BEFORE_HELLO, "before-hello")                                                                                     \
  X (AFTER_HELLO, "after-hello")                                                                                       \
  X (AFTER_MAP, "after-map")                                                                                           \
  X (AFTER_SEAL, "after-seal")                                                                                         \
  X (BEFORE_REPLY, "before-reply")                                                                                     \
  X (AFTER_REPLY, "after-reply")                                                                                       \
  X (AFTER_FIELD, "after-field")                                                                                       \
  X (BEFORE_SPILL_SEND, "before-spill-send")                                                                           \
  X (AFTER_SPILL_SEND, "after-spill-send")                                                                             \
  X (BEFORE_PUBLISH, "before-publish")                                                                                 \
  X (AFTER_PUBLISH, "after-publish")                                                                                   \
  X (AFTER_PUBLISH_WAKE, "after-publish-wake")                                                                         \
  X (AFTER_WANT_STORE, "after-want-store")                                                                             \
  X (AFTER_TAKE_STORE, "after-take-store")                                                                             \
  X (AFTER_TAKE_WAKE, "after-take-wake")                                                                               \
  X (AFTER_SPILL_TAKE, "after-spill-take")                                                                             \
  X (BEFORE_COPY_OUT, "before-copy-out")                                                                               \
  X (AFTER_COPY_OUT, "after-copy-out")                                                                                 \
  X (BEFORE_RELEASE, "before-release")                                                                                 \
  X (AFTER_FREED_STORE, "after-freed-store")                                                                           \
  X (AFTER_RELEASE_STORE, "after-release-store")                                                                       \
  X (AFTER_RELEASE_WAKE, "after-release-wake")                                                                         \
  X (AFTER_EPOCH_STORE, "after-epoch-store")                                                                           \
  X (AFTER_STOP_STORE, "after-stop-store")                                                                             \
  X (AFTER_STATE_STORE, "after-state-store")                                                                           \
  X (BEFORE_END, "before-end")                                                                                         \
  X (AFTER_END, "after-end")

typedef enum
{
#define X(name, nick) ARENA_KILL_##name,
  ARENA_KILL_POINTS (X)
#undef X
  ARENA_N_KILL_POINTS,
} ArenaKillPoint;

/* In the library itself this is nothing. In the tests' twin, ARENA_KILL_POINT="<nick>:<n>" kills the process with
 * SIGKILL when it passes that point for the n-th time (counted from 1), and ARENA_KILL_LOG=<file> appends the nick
 * of each point passed for the first time. */
#ifdef ARENA_TEST_HOOKS
void        arena_kill_point        (ArenaKillPoint point);
const char *arena_kill_point_nick   (ArenaKillPoint point);
/* Reads the variables again and counts from 1: for a forked child that sets them, with one thread. */
void        arena_kill_point_reload (void);
#else
#define arena_kill_point(point) G_STMT_START { } G_STMT_END
#endif

G_END_DECLS
