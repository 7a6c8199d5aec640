/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* C52, F18: after any number of bytes in and out, one unit of exactly the capacity fits, without waiting. */

static void
check (gsize capacity)
{
  for (guint before = 0; before < 200; before++)
    {
      g_auto (ArenaEnds) ends = { 0 };
      g_autoptr (GError) error = NULL;
      ArenaSent sent;

      arena_ends_open_ring (&ends, capacity);
      for (guint i = 0; i < before; i++)
        {
          sent = arena_ends_send (&ends, 1 + (i * 37) % MIN (capacity, 300), i);
          arena_ends_pass (&ends, &sent);
        }
      for (guint i = 0; i < 3; i++)
        {
          g_assert_true (arena_ends_try_send (&ends, capacity, 1000 + i, 0, &sent, &error));
          g_assert_no_error (error);
          arena_ends_pass (&ends, &sent);
        }
    }
}

static void
test (void)
{
  check (64);
  check (1000);
  check (4096);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/ring/full-capacity-at-every-offset", test);
  return g_test_run ();
}
