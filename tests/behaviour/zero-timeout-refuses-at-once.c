/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* F103, F186: a full arena refuses a try at once, as often as it is tried. */

static void
check (ArenaEnds *ends)
{
  g_autoptr (GError) error = NULL;
  gint64 start;
  ArenaSent sent, next;

  sent = arena_ends_send (ends, 1000, 1);
  start = g_get_monotonic_time ();
  for (guint i = 0; i < 100; i++)
    {
      g_assert_false (arena_ends_try_send (ends, 1000, 2, 0, &next, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
    }
  g_assert_cmpint (g_get_monotonic_time () - start, <, 1000000);

  arena_ends_pass (ends, &sent);
  g_assert_true (arena_ends_try_send (ends, 1000, 2, 0, &next, &error));
  arena_ends_pass (ends, &next);
  arena_ends_clear (ends);
}

static void
test (void)
{
  arena_ends_check_both (1000, 1, check);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/zero-timeout-refuses-at-once", test);
  return g_test_run ();
}
