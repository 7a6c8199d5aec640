/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* F105: a producer that was given 0.05 s gets an error after that time, loses nothing, and may try again. */

static void
check (ArenaEnds *ends)
{
  g_autoptr (GError) error = NULL;
  gint64 start, elapsed;
  ArenaSent sent, next;

  sent = arena_ends_send (ends, 1000, 1);
  start = g_get_monotonic_time ();
  g_assert_false (arena_ends_try_send (ends, 1000, 2, 50000, &next, &error));
  elapsed = g_get_monotonic_time () - start;
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "in vain");
  g_assert_cmpint (elapsed, >=, 40000);
  g_assert_cmpint (elapsed, <, 2000000);

  arena_ends_pass (ends, &sent);
  next = arena_ends_send (ends, 1000, 2);
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
  arena_test_add ("/arena/backend/timeout-expires", test);
  return g_test_run ();
}
