/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-cursor-private.h"
#include "sync/arena-event-private.h"

#include "arena-test.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#define N_WAKES      50000 /* of each thread */
#define N_RACES      200000
#define LOST_WAKE_MS 5000

/* Where a 32-bit counter, a double and a signed number end. */
static const guint64 starts[] = {
  0,
  (G_GUINT64_CONSTANT (1) << 32) - 3,
  (G_GUINT64_CONSTANT (1) << 53) - 3,
  (G_GUINT64_CONSTANT (1) << 63) - 1000000,
};

static void
test_crossing_table (void)
{
  const struct
  {
    gint64   want; /* all three from the start plus 3 */
    gint64   old_value;
    gint64   new_value;
    gboolean crosses;
  } table[] = {
    { 1, 0, 1, TRUE },   { 1, 0, 0, FALSE },  { 0, 0, 1, FALSE },  { -1, 0, 1, FALSE },
    { 2, 0, 1, FALSE },  { 2, 0, 2, TRUE },   { 2, 0, 9, TRUE },   { 2, 1, 2, TRUE },
    { 2, 2, 3, FALSE },  { 9, 0, 9, TRUE },   { 10, 0, 9, FALSE }, { 1, 1, 1, FALSE },
    { -3, 0, 9, FALSE }, { 5, 4, 5, TRUE },   { 5, 5, 5, FALSE },  { 5, 4, 6, TRUE },
  };

  for (guint s = 0; s < G_N_ELEMENTS (starts); s++)
    for (guint i = 0; i < G_N_ELEMENTS (table); i++)
      {
        guint64 base = starts[s] + 3;

        g_assert_cmpint (arena_cursor_crosses (base + (guint64) table[i].want,
                                               base + (guint64) table[i].old_value,
                                               base + (guint64) table[i].new_value), ==, table[i].crosses);
      }
}

/* A want that is left behind wakes nobody again: exactly one write per sleep. */
static void
test_crossing_happens_once (void)
{
  for (guint s = 0; s < G_N_ELEMENTS (starts); s++)
    for (guint64 ahead = 1; ahead <= 8; ahead++)
      for (guint64 step = 1; step <= 4; step++)
        {
          ArenaWord cursor = starts[s];
          ArenaWord want = 0;
          guint n_wakes = 0;

          arena_cursor_arm (&want, starts[s] + ahead);
          for (guint64 at = starts[s]; at < starts[s] + 20; at += step)
            if (arena_cursor_publish (&cursor, &want, at, at + step))
              n_wakes++;

          g_assert_cmpuint (n_wakes, ==, 1);
          g_assert_cmpuint (atomic_load (&cursor), >=, starts[s] + 20);
        }
}

static void
test_add_is_publish (void)
{
  for (guint s = 0; s < G_N_ELEMENTS (starts); s++)
    {
      ArenaWord cursor = starts[s];
      ArenaWord want = starts[s] + 4;

      g_assert_false (arena_cursor_add (&cursor, &want, 3));
      g_assert_true (arena_cursor_add (&cursor, &want, 2));
      g_assert_false (arena_cursor_add (&cursor, &want, 1));
      g_assert_cmpuint (atomic_load (&cursor), ==, starts[s] + 6);
    }
}

static void
test_read_refuses_a_broken_peer (void)
{
  for (guint s = 0; s < G_N_ELEMENTS (starts); s++)
    {
      guint64 last = starts[s] + 1;
      guint64 value = 0;
      ArenaWord cursor = last;

      g_assert_true (arena_cursor_read (&cursor, last, last, &value));
      g_assert_cmpuint (value, ==, last);
      cursor = last + 5;
      g_assert_true (arena_cursor_read (&cursor, last, last + 5, &value));
      g_assert_cmpuint (value, ==, last + 5);
      g_assert_false (arena_cursor_read (&cursor, last, last + 4, &value));
      cursor = last - 1;
      g_assert_false (arena_cursor_read (&cursor, last, last + 5, &value));
      cursor = G_MAXUINT64;
      g_assert_false (arena_cursor_read (&cursor, last, ARENA_CURSOR_MAX, &value));
    }
}

/* One direction of the two-thread tests. */
typedef struct
{
  _Alignas (ARENA_LINE) ArenaWord cursor;
  _Alignas (ARENA_LINE) ArenaWord want;
  int     event;
  guint64 n_writes; /* by the publisher */
  guint64 n_arms;   /* by the sleeper */
} Lane;

typedef struct
{
  Lane    there;
  Lane    back;
  guint64 start;
} Pair;

static void
publish (Lane   *lane,
         guint64 value)
{
  if (!arena_cursor_publish (&lane->cursor, &lane->want, value - 1, value))
    return;

  lane->n_writes++;
  arena_event_signal (lane->event);
}

/* The order of the protocol: drain, arm, re-read, sleep; never any spinning. */
static void
sleep_until (Lane   *lane,
             guint64 value)
{
  struct pollfd poll_fd = { .fd = lane->event, .events = POLLIN };
  guint64 seen;

  for (;;)
    {
      arena_event_drain (lane->event);
      arena_cursor_arm (&lane->want, value);
      lane->n_arms++;
      g_assert_true (arena_cursor_read (&lane->cursor, value - 1, value, &seen));
      if (seen == value)
        return;

      if (poll (&poll_fd, 1, LOST_WAKE_MS) == 0)
        g_error ("a wake was lost at %" G_GUINT64_FORMAT, value);
    }
}

static gpointer
answer (gpointer data)
{
  Pair *pair = data;

  for (guint64 i = 1; i <= N_WAKES; i++)
    {
      sleep_until (&pair->there, pair->start + i);
      publish (&pair->back, pair->start + i);
    }

  return NULL;
}

static void
test_ping_pong_loses_no_wake (void)
{
  Pair pair = { .start = (G_GUINT64_CONSTANT (1) << 32) - N_WAKES / 2 };
  GThread *thread;

  pair.there.cursor = pair.back.cursor = pair.start;
  pair.there.event = arena_event_new (NULL);
  pair.back.event = arena_event_new (NULL);
  thread = g_thread_new ("answer", answer, &pair);
  for (guint64 i = 1; i <= N_WAKES; i++)
    {
      publish (&pair.there, pair.start + i);
      sleep_until (&pair.back, pair.start + i);
    }
  g_thread_join (thread);

  g_assert_cmpuint (pair.there.n_writes, <=, pair.there.n_arms);
  g_assert_cmpuint (pair.back.n_writes, <=, pair.back.n_arms);
  close (pair.there.event);
  close (pair.back.event);
}

/* Publisher and sleeper meet at the same moment, again and again: one of the two must see the other, or the sleeper
 * is never woken. Weaker operations than seq_cst fail here within milliseconds where there are two processors. */
typedef struct
{
  _Alignas (ARENA_LINE) ArenaWord cursor;
  _Alignas (ARENA_LINE) ArenaWord want;
  _Alignas (ARENA_LINE) _Atomic guint64 round;
  _Alignas (ARENA_LINE) _Atomic guint64 done;
  gboolean woken;
} Race;

static void
meet (_Atomic guint64 *word,
      guint64          value)
{
  for (guint spins = 0; atomic_load_explicit (word, memory_order_acquire) < value; spins++)
    if (spins > 1000)
      sched_yield ();
}

static gpointer
race_publisher (gpointer data)
{
  Race *race = data;

  for (guint64 i = 1; i <= N_RACES; i++)
    {
      meet (&race->round, i);
      race->woken = arena_cursor_publish (&race->cursor, &race->want, i - 1, i);
      atomic_store_explicit (&race->done, i, memory_order_release);
    }

  return NULL;
}

static void
test_nobody_misses_the_other (void)
{
  Race race = { 0 };
  GThread *thread = g_thread_new ("publisher", race_publisher, &race);

  for (guint64 i = 1; i <= N_RACES; i++)
    {
      guint64 seen;

      atomic_store_explicit (&race.round, i, memory_order_release);
      /* Delays of every length up to a hand-over between processors. */
      for (volatile guint delay = i % 128; delay > 0; delay--)
        ;
      arena_cursor_arm (&race.want, i);
      g_assert_true (arena_cursor_read (&race.cursor, i - 1, i, &seen));
      meet (&race.done, i);
      if (seen != i && !race.woken)
        g_error ("round %" G_GUINT64_FORMAT ": neither saw the other", i);
    }

  g_thread_join (thread);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cursor/crossing-table", test_crossing_table);
  arena_test_add ("/arena/cursor/crossing-happens-once", test_crossing_happens_once);
  arena_test_add ("/arena/cursor/add-is-publish", test_add_is_publish);
  arena_test_add ("/arena/cursor/read-refuses-a-broken-peer", test_read_refuses_a_broken_peer);
  arena_test_add ("/arena/cursor/ping-pong-loses-no-wake", test_ping_pong_loses_no_wake);
  arena_test_add ("/arena/cursor/nobody-misses-the-other", test_nobody_misses_the_other);
  return g_test_run ();
}
