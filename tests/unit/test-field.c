/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-field-private.h"

#include "arena-test.h"

static void
test_plain (void)
{
  const guint64 shape[] = { 2, 3 };
  g_autoptr (ArenaField) field = arena_field_new ("x", ARENA_DTYPE_FLOAT32, 24, shape, NULL, 2);
  const guint64 *got;
  gsize n_dims;

  g_assert_cmpstr (arena_field_get_name (field), ==, "x");
  g_assert_cmpint (arena_field_get_dtype (field), ==, ARENA_DTYPE_FLOAT32);
  g_assert_cmpuint (arena_field_get_size (field), ==, 24);
  got = arena_field_get_shape (field, &n_dims);
  g_assert_cmpmem (got, n_dims * 8, shape, sizeof shape);

  n_dims = 7;
  g_assert_null (arena_field_get_byte_strides (field, &n_dims));
  g_assert_cmpuint (n_dims, ==, 0);
}

static void
test_strides (void)
{
  const guint64 shape[] = { 2, 3 };
  const gint64 strides[] = { 4, 8 };
  g_autoptr (ArenaField) field = arena_field_new (NULL, ARENA_DTYPE_INT32, 24, shape, strides, 2);
  const gint64 *got;
  gsize n_dims;

  g_assert_null (arena_field_get_name (field));
  got = arena_field_get_byte_strides (field, &n_dims);
  g_assert_cmpmem (got, n_dims * 8, strides, sizeof strides);
}

static void
test_scalar (void)
{
  g_autoptr (ArenaField) field = arena_field_new ("", ARENA_DTYPE_BOOL, 1, NULL, NULL, 0);
  gsize n_dims = 7;

  g_assert_nonnull (arena_field_get_shape (field, NULL));
  g_assert_null (arena_field_get_byte_strides (field, NULL));
  arena_field_get_shape (field, &n_dims);
  g_assert_cmpuint (n_dims, ==, 0);
  g_assert_cmpstr (arena_field_get_name (field), ==, "");
}

/* A description owns what it says: neither the arguments nor another copy are needed. */
static void
test_copy (void)
{
  guint64 shape[] = { 5 };
  char name[] = "old";
  ArenaField *field = arena_field_new (name, ARENA_DTYPE_UINT8, 5, shape, NULL, 1);
  ArenaField *copy = arena_field_copy (field);
  gsize n_dims;

  shape[0] = 6;
  name[0] = 'n';
  arena_field_free (field);
  g_assert_cmpstr (arena_field_get_name (copy), ==, "old");
  g_assert_cmpuint (arena_field_get_shape (copy, &n_dims)[0], ==, 5);
  arena_field_free (copy);
}

static void
test_boxed (void)
{
  const guint64 shape[] = { 5 };
  g_autoptr (ArenaField) field = arena_field_new (NULL, ARENA_DTYPE_UINT8, 5, shape, NULL, 1);
  g_auto (GValue) value = G_VALUE_INIT;

  g_value_init (&value, ARENA_TYPE_FIELD);
  g_value_set_boxed (&value, field);
  g_assert_cmpuint (arena_field_get_size (g_value_get_boxed (&value)), ==, 5);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/field/plain", test_plain);
  arena_test_add ("/arena/field/strides", test_strides);
  arena_test_add ("/arena/field/scalar", test_scalar);
  arena_test_add ("/arena/field/copy", test_copy);
  arena_test_add ("/arena/field/boxed", test_boxed);
  return g_test_run ();
}
