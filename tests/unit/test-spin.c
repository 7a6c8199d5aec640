/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "sync/arena-spin-private.h"

static void
test_quota (void)
{
  static const struct
  {
    const char *text;
    gboolean    single;
  } cases[] = {
    { "max 100000\n", FALSE },
    { "200000 100000\n", FALSE },
    { "100001 100000\n", FALSE },
    { "100000 100000\n", TRUE },
    { "50000 100000\n", TRUE },
    { "50000", TRUE },
    { "", FALSE },
    { "garbage", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (arena_spin_quota_is_single (cases[i].text), ==, cases[i].single);
}

/* The longest spin is tens of microseconds, not milliseconds: a spinning side must not be seen as busy. */
static void
test_limit_is_short (void)
{
  guint limit = arena_spin_limit ();
  gint64 shortest = G_MAXINT64;

  g_assert_cmpuint (limit, ==, arena_spin_limit ());
  for (guint round = 0; round < 10; round++)
    {
      gint64 started = g_get_monotonic_time ();

      for (guint i = 0; i < limit; i++)
        arena_cpu_relax ();
      shortest = MIN (shortest, g_get_monotonic_time () - started);
    }
  g_assert_cmpint (shortest, <, 1000);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spin/quota-of-one-cpu", test_quota);
  arena_test_add ("/arena/spin/limit-is-short", test_limit_is_short);
  return g_test_run ();
}
