/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-shape-private.h"

#include "arena-test.h"

#define TWO_TO(n) (G_GUINT64_CONSTANT (1) << (n))

static void
test_size (void)
{
  const struct
  {
    guint64 shape[3];
    gsize n_dims;
    guint item_size;
    gboolean fits;
    guint64 size;
  } table[] = {
    { { 0 }, 0, 8, TRUE, 8 },
    { { 3 }, 1, 4, TRUE, 12 },
    { { 3, 5, 7 }, 3, 2, TRUE, 210 },
    { { 0 }, 1, 4, TRUE, 0 },
    { { 0, 4 }, 2, 4, TRUE, 0 },
    { { 3, 0, 2 }, 3, 4, TRUE, 0 },
    { { TWO_TO (62) }, 1, 1, TRUE, TWO_TO (62) },
    { { G_MAXINT64 }, 1, 1, TRUE, G_MAXINT64 },
    { { TWO_TO (63) }, 1, 1, FALSE },
    { { G_MAXUINT64 }, 1, 1, FALSE },
    { { TWO_TO (61) }, 1, 8, FALSE },
    { { TWO_TO (32), TWO_TO (32) }, 2, 1, FALSE },
    { { TWO_TO (32), TWO_TO (32), TWO_TO (32) }, 3, 16, FALSE },
    /* An empty array whose strides no language could hold. */
    { { 0, TWO_TO (63) }, 2, 1, FALSE },
    { { G_MAXUINT64, 0, G_MAXUINT64 }, 3, 4, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      guint64 size = 99;

      g_test_message ("row %u", i);
      g_assert_cmpint (arena_shape_get_size (table[i].shape, table[i].n_dims, table[i].item_size, &size), ==,
                       table[i].fits);
      if (table[i].fits)
        g_assert_cmpuint (size, ==, table[i].size);
    }
}

static void
test_extent (void)
{
  const struct
  {
    guint64 shape[3];
    gint64 strides[3];
    gsize n_dims;
    gboolean fits;
    guint64 extent;
  } table[] = {
    { { 0 }, { 0 }, 0, TRUE, 4 },
    { { 2, 3 }, { 12, 4 }, 2, TRUE, 24 },
    { { 2, 3 }, { 4, 8 }, 2, TRUE, 24 },
    { { 1000 }, { 0 }, 1, TRUE, 4 },
    { { 1 }, { -8 }, 1, TRUE, 4 },
    { { 1 }, { G_MAXINT64 }, 1, TRUE, 4 },
    { { 3 }, { 100 }, 1, TRUE, 204 },
    { { 3 }, { 1 }, 1, TRUE, 6 },
    { { 0, 3 }, { -4, -4 }, 2, TRUE, 0 },
    { { 2 }, { -4 }, 1, FALSE },
    { { 2, 2 }, { 8, G_MININT64 }, 2, FALSE },
    { { 4 }, { G_MAXINT64 }, 1, FALSE },
    { { 2, 2, 2 }, { G_MAXINT64, G_MAXINT64, 4 }, 3, FALSE },
    { { G_MAXUINT64 }, { 2 }, 1, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      guint64 extent = 99;

      g_test_message ("row %u", i);
      g_assert_cmpint (arena_shape_get_extent (table[i].shape, table[i].strides, table[i].n_dims, 4, &extent), ==,
                       table[i].fits);
      if (table[i].fits)
        g_assert_cmpuint (extent, ==, table[i].extent);
    }
}

static void
test_c_order (void)
{
  const struct
  {
    guint64 shape[3];
    gint64 strides[3];
    gsize n_dims;
    gboolean c_order;
  } table[] = {
    { { 0 }, { 0 }, 0, TRUE },
    { { 5 }, { 4 }, 1, TRUE },
    { { 2, 3, 5 }, { 60, 20, 4 }, 3, TRUE },
    { { 1, 5 }, { 99, 4 }, 2, TRUE },
    { { 5, 1 }, { 4, -99 }, 2, TRUE },
    { { 5 }, { 8 }, 1, FALSE },
    { { 5 }, { 0 }, 1, FALSE },
    { { 5 }, { -4 }, 1, FALSE },
    { { 2, 3 }, { 4, 8 }, 2, FALSE },
    { { 2, 3 }, { 16, 4 }, 2, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_test_message ("row %u", i);
      g_assert_cmpint (arena_shape_is_c_order (table[i].shape, table[i].strides, table[i].n_dims, 4), ==,
                       table[i].c_order);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/shape/size", test_size);
  arena_test_add ("/arena/shape/extent", test_extent);
  arena_test_add ("/arena/shape/c-order", test_c_order);
  return g_test_run ();
}
