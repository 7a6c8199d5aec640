/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "memory/arena-pin-table-private.h"

/* Addresses are only numbers here. */

static gconstpointer
at (guintptr address)
{
  return (gconstpointer) address;
}

static void
test_empty (void)
{
  guint n = 7;

  g_assert_false (arena_pin_table_covers (at (4096), 1));
  arena_pin_table_remove (at (4096));
  g_assert_cmpuint (arena_pin_table_measure (at (0), G_MAXSIZE, &n), ==, 0);
  g_assert_cmpuint (n, ==, 0);
}

static void
test_covers (void)
{
  const struct { guintptr start; gsize size; gboolean covered; } rows[] = {
    { 8192, 4096, TRUE },
    { 8192, 1, TRUE },
    { 12287, 1, TRUE },
    { 9000, 100, TRUE },
    { 9000, 0, FALSE },
    { 8191, 1, FALSE },
    { 8191, 2, FALSE },
    { 12287, 2, FALSE },  /* over the seam to one that touches */
    { 8192, 8192, FALSE },
    { 12288, 4096, TRUE },
    { 16384, 1, FALSE },
    { 8192, G_MAXSIZE, FALSE },
    { 1 << 20, 10, TRUE },
    { (1 << 20) + 10, 1, FALSE },
    { 0, 1, FALSE },
  };

  arena_pin_table_add (at (1 << 20), 10);
  arena_pin_table_add (at (8192), 4096);
  arena_pin_table_add (at (12288), 4096);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (arena_pin_table_covers (at (rows[i].start), rows[i].size), ==, rows[i].covered);

  arena_pin_table_remove (at (9000)); /* no start */
  g_assert_true (arena_pin_table_covers (at (9000), 1));
  arena_pin_table_remove (at (8192));
  g_assert_false (arena_pin_table_covers (at (9000), 1));
  g_assert_true (arena_pin_table_covers (at (12288), 1));
  arena_pin_table_remove (at (12288));
  arena_pin_table_remove (at (1 << 20));
}

static void
test_measure (void)
{
  guint n;

  for (guintptr i = 0; i < 10; i++)
    arena_pin_table_add (at (100 - 10 * i), i + 1);
  g_assert_cmpuint (arena_pin_table_measure (at (0), G_MAXSIZE, &n), ==, 55);
  g_assert_cmpuint (n, ==, 10);
  g_assert_cmpuint (arena_pin_table_measure (at (90), 10, NULL), ==, 2);
  g_assert_cmpuint (arena_pin_table_measure (at (91), 9, &n), ==, 0);
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpuint (arena_pin_table_measure (at (10), 21, &n), ==, 10 + 9 + 8);
  for (guintptr i = 0; i < 10; i++)
    arena_pin_table_remove (at (100 - 10 * i));
}

/* Nothing is locked for a child, which may lock ranges of its own. */
static int
look_in_child (gpointer data)
{
  g_assert_false (arena_pin_table_covers (at (8192), 1));
  arena_pin_table_add (at (4096), 1);
  g_assert_true (arena_pin_table_covers (at (4096), 1));
  g_assert_cmpuint (arena_pin_table_measure (at (0), G_MAXSIZE, NULL), ==, 1);
  return 0;
}

static void
test_fork (void)
{
  arena_pin_table_add (at (8192), 4096);
  arena_test_assert_child (look_in_child, NULL);
  g_assert_true (arena_pin_table_covers (at (8192), 1));
  arena_pin_table_remove (at (8192));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pin-table/empty", test_empty);
  arena_test_add ("/arena/pin-table/covers", test_covers);
  arena_test_add ("/arena/pin-table/measure", test_measure);
  arena_test_add ("/arena/pin-table/a-child-finds-it-empty", test_fork);
  return g_test_run ();
}
