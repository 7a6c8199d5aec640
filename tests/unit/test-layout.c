/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-layout-private.h"

/* A segment of exactly this many bytes holds one field of as many, whatever the number. */
static void
test_one_field_fills_all (void)
{
  for (guint64 size = 0; size < 300; size++)
    {
      ArenaLayout layout = { 0 };
      guint64 offset = 1;

      g_assert_true (arena_layout_place (&layout, size, 0, size, &offset));
      g_assert_cmpuint (offset, ==, 0);
      g_assert_cmpuint (layout.end, ==, size);
      g_assert_false (arena_layout_place (&layout, 1, 0, size, &offset));
    }
}

static void
test_alignment (void)
{
  const struct { guint64 first, size, alignment, offset; } rows[] = {
    { 0, 10, 0, 0 },
    { 1, 10, 0, 64 },
    { 64, 10, 0, 64 },
    { 65, 10, 0, 128 },
    { 1, 10, 1, 64 },
    { 1, 10, 64, 64 },
    { 1, 10, 128, 128 },
    { 1, 10, 4096, 4096 },
    { 4097, 0, 4096, 8192 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ArenaLayout layout = { .end = rows[i].first };
      guint64 offset = 1;

      g_assert_true (arena_layout_place (&layout, rows[i].size, rows[i].alignment, 1 << 20, &offset));
      g_assert_cmpuint (offset, ==, rows[i].offset);
      g_assert_cmpuint (layout.end, ==, rows[i].offset + rows[i].size);
    }
}

/* What doesn't fit changes nothing: a smaller field may follow. */
static void
test_refusal_changes_nothing (void)
{
  const struct { guint64 end, size, alignment, limit; } rows[] = {
    { 0, 11, 0, 10 },
    { 1, 1, 0, 64 },
    { 1, 0, 128, 127 },
    { 64, 37, 0, 100 },
    { 0, G_MAXUINT64, 0, G_MAXUINT64 - 1 },
    { 64, G_MAXUINT64 - 63, 0, G_MAXUINT64 },
    { G_MAXUINT64 - 62, 0, 0, G_MAXUINT64 },
    { 1, 1, G_GUINT64_CONSTANT (1) << 63, G_GUINT64_CONSTANT (1) << 63 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ArenaLayout layout = { .end = rows[i].end };
      guint64 offset = 12345;

      g_assert_false (arena_layout_place (&layout, rows[i].size, rows[i].alignment, rows[i].limit, &offset));
      g_assert_cmpuint (layout.end, ==, rows[i].end);
      g_assert_cmpuint (offset, ==, 12345);
    }
}

static void
test_fields_never_overlap (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint round = 0; round < 1000; round++)
    {
      ArenaLayout layout = { 0 };
      guint64 last_end = 0;
      guint64 offset;
      guint64 size = (guint64) g_rand_int_range (rand, 0, 200);
      guint64 alignment = G_GUINT64_CONSTANT (1) << g_rand_int_range (rand, 0, 10);

      while (arena_layout_place (&layout, size, alignment, 8192, &offset))
        {
          g_assert_cmpuint (offset, >=, last_end);
          g_assert_cmpuint (offset % MAX (alignment, 64), ==, 0);
          last_end = offset + size;
          g_assert_cmpuint (last_end, <=, 8192);
          size = (guint64) g_rand_int_range (rand, 1, 200);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/layout/one-field-fills-all", test_one_field_fills_all);
  arena_test_add ("/arena/layout/fields-are-aligned", test_alignment);
  arena_test_add ("/arena/layout/refusal-changes-nothing", test_refusal_changes_nothing);
  arena_test_add ("/arena/layout/fields-never-overlap", test_fields_never_overlap);
  return g_test_run ();
}
