/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"

/* F113, F160: a unit whose fields are all below the threshold travels in its envelope: no storage is asked for, its
 * span and size are 0, and a hundred of them in a row need no segment at all. */

static void
test_small (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (4096, 16384, 4096);
  ArenaUnit *units[100];

  for (guint i = 0; i < 100; i++)
    {
      arena_loopback_open (loop);
      arena_loopback_bytes (loop, "a", 4095, i);
      arena_loopback_bytes (loop, "b", 1 + i, i + 1);
      g_assert_true (arena_unit_builder_set_value (loop->builder, g_variant_new_uint32 (i), NULL));
      units[i] = arena_loopback_send (loop);
      g_assert_cmpuint (loop->span, ==, 0);
      g_assert_cmpuint (loop->offset, ==, 0);
      g_assert_cmpuint (loop->size, ==, 0);
    }

  g_assert_cmpuint (loop->n_acquired, ==, 0);
  g_assert_cmpuint (loop->writer->n_begun, ==, 0);
  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (GBytes) a = arena_unit_dup_bytes (units[i], 0, NULL);
      g_autoptr (GBytes) b = arena_unit_dup_bytes (units[i], 1, NULL);

      g_assert_true (arena_test_check_pattern (g_bytes_get_data (a, NULL), 4095, i));
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (b, NULL), 1 + i, i + 1));
      g_object_unref (units[i]);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/small-unit-takes-no-segment", test_small);
  return g_test_run ();
}
