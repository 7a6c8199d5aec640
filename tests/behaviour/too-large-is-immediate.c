/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* F05, F66, F101, F102, F110: what can never fit is refused at once, even with all the time in the world and a full arena,
 * and the message has both numbers: one field, the sum of two that fit singly, and the size that was announced. */

static void
check (ArenaEnds *ends,
       gsize      limit)
{
  g_autoptr (GBytes) more = g_bytes_new_take (g_malloc0 (2 * limit), 2 * limit);
  g_autoptr (GBytes) most = g_bytes_new_take (g_malloc0 (limit - 14), limit - 14);
  g_autoptr (GBytes) some = g_bytes_new_take (g_malloc0 (30), 30);
  g_autofree char *text = g_strdup_printf ("%" G_GSIZE_FORMAT, limit);
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;

  /* The sum, with room for the first of the two. */
  g_assert_true (arena_writer_begin_unit (ends->writer, 0, -1, NULL, &error));
  g_assert_true (arena_writer_write (ends->writer, most, NULL, &error));
  g_assert_false (arena_writer_write (ends->writer, some, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, text, "30");
  g_assert_true (arena_writer_commit_unit (ends->writer, NULL, &error));
  arena_ends_fill (ends, limit);

  g_assert_false (arena_writer_begin_unit (ends->writer, 2 * limit, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, text);
  g_assert_true (arena_writer_begin_unit (ends->writer, 0, -1, NULL, &error));
  g_assert_false (arena_writer_write (ends->writer, more, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, text);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 1000000);
  arena_ends_clear (ends);
}

static void
test (void)
{
  ArenaEnds ends = { 0 };

  arena_ends_open_pool (&ends, 64, 1);
  check (&ends, 64);
  arena_ends_open_ring (&ends, 64);
  check (&ends, 64);
  arena_ends_open_pool (&ends, 10000, 3);
  check (&ends, 10000);
  arena_ends_open_ring (&ends, 10000);
  check (&ends, 10000);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/too-large-is-immediate", test);
  return g_test_run ();
}
