/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* C18: 8 children forked at once each create an arena of their own, and none sees another's. */

static int
create (gpointer data)
{
  guint seed = GPOINTER_TO_UINT (data);
  ArenaEnds ends = { 0 };

  arena_ends_open_pool (&ends, 10000, 2);
  for (guint i = 0; i < 100; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 10000, seed * 1000 + i);
      GBytes *view = arena_ends_take (&ends, &sent);

      g_usleep (100);
      arena_ends_check (view, &sent);
      g_bytes_unref (view);
    }
  arena_ends_clear (&ends);
  return 0;
}

static void
test (void)
{
  pid_t children[8];

  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    children[i] = arena_test_start_child (create, GUINT_TO_POINTER (i));
  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    g_assert_cmpint (arena_test_wait_child (children[i]), ==, 0);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/forked-children-create-arenas", test);
  return g_test_run ();
}
