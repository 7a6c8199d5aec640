/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"
#include "sync/arena-timing-private.h"

#include "arena-test.h"

static void
test_defaults (void)
{
  g_assert_cmpint (arena_timing.stall_log, ==, 1000000);
  g_assert_cmpint (arena_timing.join, ==, 3000000);
  g_assert_cmpint (arena_timing.terminate, ==, 1000000);
  g_assert_cmpint (arena_timing.kill, ==, 1000000);
  g_assert_cmpint (arena_timing.dispose_grace, ==, 200000);
  g_assert_cmpint (arena_timing.look, ==, 100000);
  g_assert_cmpint (arena_timing.exit_status, ==, 200000);
}

static void
test_none_and_try_stay (void)
{
  g_assert_cmpint (arena_deadline_from_timeout (-1), ==, -1);
  g_assert_cmpint (arena_deadline_from_timeout (0), ==, 0);
}

static void
test_deadline_is_monotonic_time (void)
{
  gint64 before = g_get_monotonic_time ();
  gint64 deadline = arena_deadline_from_timeout (1000);
  gint64 after = g_get_monotonic_time ();

  g_assert_cmpint (deadline, >=, before + 1000);
  g_assert_cmpint (deadline, <=, after + 1000);
}

static void
test_sums_saturate (void)
{
  g_assert_cmpint (arena_deadline_from_timeout (G_MAXINT64), ==, G_MAXINT64);
  g_assert_cmpint (arena_deadline_from_timeout (G_MAXINT64 - 1), ==, G_MAXINT64);
  g_assert_cmpint (arena_deadline_from_timeout (G_MAXINT64 / 2), >, G_MAXINT64 / 2);
}

static void
test_check_refuses_below_none (void)
{
  const gint64 good[] = { -1, 0, 1, G_MAXINT64 };
  const gint64 bad[] = { -2, -1000000, G_MININT64 };
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (arena_timeout_check (good[i], &error));
  g_assert_no_error (error);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, bad[i]);

      g_assert_false (arena_timeout_check (bad[i], &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "timeout", number, "-1");
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/timing/defaults", test_defaults);
  arena_test_add ("/arena/timing/none-and-try-stay", test_none_and_try_stay);
  arena_test_add ("/arena/timing/deadline-is-monotonic-time", test_deadline_is_monotonic_time);
  arena_test_add ("/arena/timing/sums-saturate", test_sums_saturate);
  arena_test_add ("/arena/timing/check-refuses-below-none", test_check_refuses_below_none);
  return g_test_run ();
}
