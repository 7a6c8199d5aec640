/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-checked-private.h"

#define MAX64 G_MAXUINT64

static void
test_add (void)
{
  const struct { guint64 a, b; gboolean fits; } rows[] = {
    { 0, 0, TRUE },
    { MAX64, 0, TRUE },
    { MAX64 - 1, 1, TRUE },
    { MAX64, 1, FALSE },
    { MAX64, MAX64, FALSE },
    { MAX64 / 2 + 1, MAX64 / 2 + 1, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 result;

      g_assert_cmpint (arena_checked_add (rows[i].a, rows[i].b, &result), ==, rows[i].fits);
      g_assert_cmpuint (result, ==, rows[i].a + rows[i].b);
    }
}

static void
test_mul (void)
{
  const struct { guint64 a, b; gboolean fits; } rows[] = {
    { 0, MAX64, TRUE },
    { 1, MAX64, TRUE },
    { 2, MAX64 / 2, TRUE },
    { 2, MAX64 / 2 + 1, FALSE },
    { G_GUINT64_CONSTANT (1) << 32, G_MAXUINT32, TRUE },
    { G_GUINT64_CONSTANT (1) << 32, G_GUINT64_CONSTANT (1) << 32, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 result;

      g_assert_cmpint (arena_checked_mul (rows[i].a, rows[i].b, &result), ==, rows[i].fits);
      g_assert_cmpuint (result, ==, rows[i].a * rows[i].b);
    }
}

/* The narrow type of the result counts, not the wide one of the operands. */
static void
test_narrow_result (void)
{
  guint32 narrow;

  g_assert_true (arena_checked_add ((guint64) G_MAXUINT32, (guint64) 0, &narrow));
  g_assert_false (arena_checked_add ((guint64) G_MAXUINT32, (guint64) 1, &narrow));
  g_assert_false (arena_checked_mul ((guint64) 1 << 16, (guint64) 1 << 16, &narrow));
}

static void
test_round_up (void)
{
  const struct { guint64 value, alignment, result; gboolean fits; } rows[] = {
    { 0, 64, 0, TRUE },
    { 1, 64, 64, TRUE },
    { 63, 64, 64, TRUE },
    { 64, 64, 64, TRUE },
    { 65, 64, 128, TRUE },
    { 7, 1, 7, TRUE },
    { MAX64, 1, MAX64, TRUE },
    { MAX64 - 63, 64, MAX64 - 63, TRUE },
    { MAX64 - 62, 64, 0, FALSE },
    { MAX64, 4096, 0, FALSE },
    { 1, G_GUINT64_CONSTANT (1) << 63, G_GUINT64_CONSTANT (1) << 63, TRUE },
    { (G_GUINT64_CONSTANT (1) << 63) + 1, G_GUINT64_CONSTANT (1) << 63, 0, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 result = 0;

      g_assert_cmpint (arena_checked_round_up (rows[i].value, rows[i].alignment, &result), ==, rows[i].fits);
      g_assert_cmpuint (result, ==, rows[i].result);
    }
}

static void
test_range_fits (void)
{
  const struct { guint64 offset, length, size; gboolean fits; } rows[] = {
    { 0, 0, 0, TRUE },
    { 0, 1, 0, FALSE },
    { 1, 0, 0, FALSE },
    { 0, 10, 10, TRUE },
    { 10, 0, 10, TRUE },
    { 9, 1, 10, TRUE },
    { 9, 2, 10, FALSE },
    { 11, 0, 10, FALSE },
    /* The sums wrap to something small. */
    { MAX64, 2, 10, FALSE },
    { 2, MAX64, 10, FALSE },
    { MAX64, MAX64, MAX64, FALSE },
    { 0, MAX64, MAX64, TRUE },
    { 1, MAX64, MAX64, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (arena_range_fits (rows[i].offset, rows[i].length, rows[i].size), ==, rows[i].fits);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/checked/add-notices-overflow", test_add);
  arena_test_add ("/arena/checked/mul-notices-overflow", test_mul);
  arena_test_add ("/arena/checked/narrow-result-counts", test_narrow_result);
  arena_test_add ("/arena/checked/round-up-notices-overflow", test_round_up);
  arena_test_add ("/arena/checked/range-never-wraps", test_range_fits);
  return g_test_run ();
}
