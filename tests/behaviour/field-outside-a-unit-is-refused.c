/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

/* F151: a field outside a unit and a unit inside a unit are refused, before and after, and harm nothing. */

static void
assert_refused (ArenaLoopback *loop)
{
  g_autoptr (GBytes) data = g_bytes_new ("ab", 2);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (arena_unit_builder_append_bytes (loop->builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { 2 }, 1, data,
                                                    &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "no unit is open");
  g_assert_false (arena_unit_builder_commit (loop->builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "no unit is open");
}

static void
test_refused (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (4096, 4096, 1024);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;

  assert_refused (loop);
  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "x", 2000, 1);
  g_assert_false (arena_unit_builder_open (loop->builder, 9, loop->envelope, loop->envelope_size, FALSE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "still open");
  unit = arena_loopback_send (loop);
  g_assert_cmpint (arena_unit_find_field (unit, "x"), ==, 0);
  assert_refused (loop);

  arena_loopback_open (loop);
  arena_unit_builder_abort (loop->builder);
  assert_refused (loop);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/field-outside-a-unit-is-refused", test_refused);
  return g_test_run ();
}
