/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"

/* C34, for small fields: the slot that an envelope came in is written again by later units, and views kept from earlier
 * ones, of any epoch, still show their own bytes. */

#define N_UNITS 64

static void
test_kept (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (4096, 4096, 1024);
  GBytes *views[N_UNITS];

  for (guint i = 0; i < N_UNITS; i++)
    {
      g_autoptr (ArenaUnit) unit = NULL;

      arena_loopback_open (loop);
      arena_loopback_bytes (loop, "x", 1000, i);
      unit = arena_loopback_send (loop);
      views[i] = arena_unit_dup_bytes (unit, 0, NULL);
      for (guint j = 0; j <= i; j++)
        g_assert_true (arena_test_check_pattern (g_bytes_get_data (views[j], NULL), 1000, j));
    }

  for (guint i = 0; i < N_UNITS; i++)
    g_bytes_unref (views[i]);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/kept-inline-views-never-change", test_kept);
  return g_test_run ();
}
