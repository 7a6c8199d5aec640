/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F36: what was committed before a shutdown is read afterwards, and what is read goes back. */

static void
check (ArenaEnds *ends)
{
  ArenaSent first = arena_ends_send (ends, 400, 1);
  ArenaSent second = arena_ends_send (ends, 400, 2);
  GBytes *view = arena_ends_take (ends, &first);

  g_assert_true (arena_backend_shutdown (ends->backend, NULL));
  arena_ends_pass (ends, &second);
  arena_ends_check (view, &first);
  g_bytes_unref (view);
  arena_ends_clear (ends);
}

static void
test (void)
{
  arena_ends_check_both (1000, 2, check);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/shutdown-leaves-what-was-sent", test);
  return g_test_run ();
}
