/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F104, F11: a producer that waits for storage goes on as soon as the consumer releases some, after 0.1 s. */

#define SIZE 1000

static gpointer
release_later (gpointer data)
{
  g_usleep (100000);
  g_bytes_unref (data);
  return NULL;
}

static void
test_pool (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  gint64 start = g_get_monotonic_time ();
  gint64 elapsed;
  GThread *thread;
  ArenaSent sent;

  arena_ends_open_pool (&ends, SIZE, 1);
  sent = arena_ends_send (&ends, SIZE, 1);
  thread = g_thread_new ("release", release_later, arena_ends_take (&ends, &sent));
  sent = arena_ends_send (&ends, SIZE, 2);
  elapsed = g_get_monotonic_time () - start;
  g_assert_cmpint (elapsed, >=, 50000);
  g_assert_cmpint (elapsed, <, 2000000);
  g_thread_join (thread);
  arena_ends_pass (&ends, &sent);
}

typedef struct
{
  ArenaEnds *ends;
  ArenaSent  sent;
} Late;

static gpointer
read_later (gpointer data)
{
  Late *late = data;

  g_usleep (100000);
  arena_ends_pass (late->ends, &late->sent);
  return NULL;
}

static void
test_ring (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  gint64 start = g_get_monotonic_time ();
  Late late = { .ends = &ends };
  gint64 elapsed;
  GThread *thread;
  ArenaSent sent;

  arena_ends_open_ring (&ends, SIZE);
  late.sent = arena_ends_send (&ends, SIZE, 1);
  thread = g_thread_new ("read", read_later, &late);
  sent = arena_ends_send (&ends, SIZE, 2);
  elapsed = g_get_monotonic_time () - start;
  g_assert_cmpint (elapsed, >=, 50000);
  g_assert_cmpint (elapsed, <, 2000000);
  g_thread_join (thread);
  arena_ends_pass (&ends, &sent);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/blocked-writer-resumes-on-release", test_pool);
  arena_test_add ("/arena/ring/blocked-writer-resumes-on-release", test_ring);
  return g_test_run ();
}
