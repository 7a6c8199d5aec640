/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

#include <sys/resource.h>

/* F13, C83: 5000 results of a small ring and 3 views of a pool are kept, with at most 64 descriptors; neither stalls the
 * producer or takes a descriptor, and all outlive the arenas. */

#define KEPT 5000

static int
keep (gpointer data)
{
  struct rlimit limit;
  GBytes **kept = g_new (GBytes *, KEPT + 3);
  ArenaSent *sent = g_new (ArenaSent, KEPT + 3);
  ArenaEnds ring = { 0 };
  ArenaEnds pool = { 0 };
  guint n_fds;

  g_assert_no_errno (getrlimit (RLIMIT_NOFILE, &limit));
  limit.rlim_cur = 64;
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limit));
  arena_ends_open_ring (&ring, 4096);
  arena_ends_open_pool (&pool, 1000, 3);
  n_fds = arena_test_count_fds ();
  for (guint i = 0; i < KEPT + 3; i++)
    {
      ArenaEnds *ends = i < KEPT ? &ring : &pool;

      sent[i] = arena_ends_send (ends, 1000, i);
      kept[i] = arena_ends_take (ends, &sent[i]);
    }
  g_assert_cmpuint (arena_test_count_fds (), ==, n_fds);

  arena_ends_clear (&ring);
  arena_ends_clear (&pool);
  for (guint i = 0; i < KEPT + 3; i++)
    {
      arena_ends_check (kept[i], &sent[i]);
      g_bytes_unref (kept[i]);
    }

  g_free (kept);
  g_free (sent);
  return 0;
}

static void
test (void)
{
  arena_test_assert_child (keep, NULL);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/ring/keeps-5000-outputs", test);
  return g_test_run ();
}
