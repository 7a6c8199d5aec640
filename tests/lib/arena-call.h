/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "arena-boundary.h"

G_BEGIN_DECLS

/* Asynchronous calls in tests: the main context turns until they are done, for 10 s at most. Everything here asserts. */

/* What a call's callback was given; start with zeroes. */
typedef struct
{
  GAsyncResult *result; /* NULL: not done yet */
  GObject      *object;
  gint64        done_at;
} ArenaTestCall;

/* A GAsyncReadyCallback; its data is an ArenaTestCall. */
void          arena_test_call_done        (GObject          *object,
                                           GAsyncResult     *result,
                                           gpointer          data);
/* Turns the thread-default context until it is done. */
void          arena_test_call_wait        (ArenaTestCall    *self);
void          arena_test_call_clear       (ArenaTestCall    *self);

/* Turns the thread-default context for so long; it must still be pending then. */
void          arena_test_call_assert_pending (ArenaTestCall *self,
                                              guint          for_ms);

/* next_async() with a patience of 10 s, and its result; wait and clear included. */
ArenaUnit    *arena_test_next_async       (ArenaConsumer    *consumer,
                                           GError          **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaUnit    *arena_test_call_next        (ArenaTestCall    *self,
                                           GError          **error) G_GNUC_WARN_UNUSED_RESULT;

/* Turns the thread-default context for @ms. */
void          arena_test_turn             (guint             ms);

/* How late a timer of 16 ms comes while the thread-default context turns: start, turn, then ask. */
typedef struct
{
  GSource *source;
  GArray  *lateness; /* gint64, microseconds */
  gint64   due;
} ArenaTestTimer;

void          arena_test_timer_start      (ArenaTestTimer   *self);
/* Stops it; the 99th percentile. */
gint64        arena_test_timer_stop       (ArenaTestTimer   *self);

G_END_DECLS
