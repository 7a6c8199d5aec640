/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

#include <stdio.h>

/* C07, F149: 2000 pools are made, used and closed; descriptors, mappings and memory stay flat. */

/* A page for every second pool would be 1000. AddressSanitizer and valgrind keep what was freed. */
#if defined(__SANITIZE_ADDRESS__)
#define SLACK_PAGES 100000
#else
#define SLACK_PAGES (arena_test_on_valgrind () ? 100000 : 500)
#endif

static gsize
resident_pages (void)
{
  gsize total = 0;
  gsize resident = 0;
  FILE *file = fopen ("/proc/self/statm", "r");

  g_assert_nonnull (file);
  g_assert_cmpint (fscanf (file, "%" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT, &total, &resident), ==, 2);
  fclose (file);
  return resident;
}

static void
use_one (guint seed)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_pool (&ends, 4096, 2);
  for (guint i = 0; i < 2; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 4096, seed + i);

      arena_ends_pass (&ends, &sent);
    }
  g_assert_true (arena_backend_close (ends.backend, NULL));
}

static void
test (void)
{
  gsize before;

  for (guint i = 0; i < 200; i++)
    use_one (i);
  before = resident_pages ();
  for (guint i = 0; i < 2000; i++)
    use_one (i);

  g_assert_cmpuint (resident_pages (), <, before + SLACK_PAGES);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/create-2000-pools", test);
  return g_test_run ();
}
