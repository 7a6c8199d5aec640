/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"

#include <malloc.h>

/* C42: asking for a field's bytes again and again leaves nothing behind. */

#define N_CALLS 10000

/* The allocator's own count is exact, unlike the resident size, which is looked at as well. */
static gsize
heap_in_use (void)
{
  return mallinfo2 ().uordblks;
}

static gsize
resident_pages (void)
{
  g_autofree char *statm = NULL;
  gsize size, resident;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL));
  g_assert_cmpint (sscanf (statm, "%zu %zu", &size, &resident), ==, 2);
  return resident;
}

static void
ask (ArenaUnit *unit,
     guint      n_calls)
{
  for (guint i = 0; i < n_calls; i++)
    {
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i % 3, NULL);

      g_assert_nonnull (view);
      g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 1);
    }
}

static void
test_leak (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (65536, 4096, 1024);
  g_autoptr (ArenaUnit) unit = NULL;
  gsize heap, pages;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 5000, 1);
  arena_loopback_bytes (loop, "small", 50, 2);
  arena_loopback_bytes (loop, "empty", 0, 3);
  unit = arena_loopback_send (loop);

  ask (unit, 100);
  pages = resident_pages ();
  heap = heap_in_use ();
  ask (unit, N_CALLS);
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 0);
  g_assert_cmpuint (heap_in_use (), <=, heap + 4096);
  /* A leak of one object each would be more than this; a sanitizer keeps freed memory back, valgrind even more. */
  if (!arena_test_on_valgrind ())
    g_assert_cmpuint (resident_pages (), <=, pages + 400);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/views-do-not-leak", test_leak);
  return g_test_run ();
}
