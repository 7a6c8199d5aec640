/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"

/* C64, F60, C95: arrays with a dimension of 0 keep shape and type, take no storage and no offset, and their bytes are 0
 * long with a pointer that can be passed on. */

static const guint64 shapes[][3] = { { 0 }, { 0, 4 }, { 3, 0, 2 } };

static void
append_empty (ArenaLoopback *loop)
{
  g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      arena_unit_builder_append_bytes (loop->builder, NULL, ARENA_DTYPE_FLOAT64, shapes[i], i + 1, none, &error);
      g_assert_no_error (error);
    }
}

static void
check_empty (ArenaUnit *unit)
{
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (ArenaField) field = arena_unit_dup_field (unit, i, NULL);
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i, NULL);
      gsize n_dims;
      const guint64 *shape = arena_field_get_shape (field, &n_dims);

      g_assert_cmpmem (shape, n_dims * 8, shapes[i], (i + 1) * 8);
      g_assert_cmpint (arena_field_get_dtype (field), ==, ARENA_DTYPE_FLOAT64);
      g_assert_cmpuint (arena_field_get_size (field), ==, 0);
      g_assert_cmpuint (g_bytes_get_size (view), ==, 0);
      g_assert_nonnull (g_bytes_get_data (view, NULL));
    }
}

static void
test_beside_others (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (65536, 4096, 1024);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  append_empty (loop);
  arena_loopback_bytes (loop, "normal", 5000, 1);
  unit = arena_loopback_send (loop);
  check_empty (unit);
  g_assert_cmpuint (loop->size, ==, 5000);
  g_assert_cmpuint (loop->writer->n_writes, ==, 1);
}

/* A threshold of 0 sends every byte to the arena; still there is none. */
static void
test_alone (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (65536, 4096, 0);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  append_empty (loop);
  unit = arena_loopback_send (loop);
  check_empty (unit);
  g_assert_cmpuint (loop->n_acquired, ==, 0);
  g_assert_cmpuint (loop->size, ==, 0);
  g_assert_cmpuint (loop->span, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/empty-fields-take-no-storage/beside-others", test_beside_others);
  arena_test_add ("/arena/behaviour/empty-fields-take-no-storage/alone", test_alone);
  return g_test_run ();
}
