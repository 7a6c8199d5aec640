/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

/* C40: releasing a unit is explicit and safe while others hold views of it. The unit says how many are out, refuses new
 * ones, and those that exist keep their bytes until the last is dropped. */

static void
test_release (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (65536, 4096, 1024);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  GBytes *views[20];

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 5000, 1);
  arena_loopback_bytes (loop, "small", 50, 2);
  unit = arena_loopback_send (loop);
  for (guint i = 0; i < 20; i++)
    views[i] = arena_unit_dup_bytes (unit, i % 2, NULL);

  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 20);
  arena_unit_release (unit);
  g_assert_null (arena_unit_dup_bytes (unit, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "released");

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (GBytes) slice = g_bytes_new_from_bytes (views[i], 10, 20);

      g_assert_cmpuint (g_bytes_get_size (slice), ==, 20);
      g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 20 - i);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (views[i], NULL), i % 2 == 0 ? 5000 : 50,
                                               i % 2 == 0 ? 1 : 2));
      g_bytes_unref (views[i]);
      g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 20 - i); /* a slice is a reference */
    }
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/release-leaves-views-valid", test_release);
  return g_test_run ();
}
