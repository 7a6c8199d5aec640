/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F34, F36, F109: shutdown, close and unlink, in any order and with the arena's objects gone, end no live view; the
 * memory goes with the last view. */

typedef gboolean (*Step) (ArenaBackend  *backend,
                          GError       **error);

static void
test (void)
{
  static const Step steps[] = { arena_backend_shutdown, arena_backend_close, arena_backend_unlink };
  static const guint orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

  for (guint order = 0; order < 6; order++)
    {
      guint n_mappings = arena_test_count_mappings ();
      g_autoptr (GError) error = NULL;
      ArenaEnds ends = { 0 };
      ArenaSent sent;
      GBytes *view, *part;

      arena_ends_open_pool (&ends, 100000, 2);
      sent = arena_ends_send (&ends, 100000, order);
      view = arena_ends_take (&ends, &sent);
      part = g_bytes_new_from_bytes (view, 50000, 10);
      for (guint i = 0; i < 3; i++)
        {
          g_assert_true (steps[orders[order][i]] (ends.backend, &error));
          g_assert_no_error (error);
          arena_ends_check (view, &sent);
        }

      arena_ends_clear (&ends);
      arena_ends_check (view, &sent);
      g_assert_cmpuint (arena_test_count_mappings (), >, n_mappings);
      g_bytes_unref (view);
      g_assert_cmpuint (g_bytes_get_size (part), ==, 10);
      g_assert_cmpuint (arena_test_count_mappings (), >, n_mappings);
      g_bytes_unref (part);
      g_assert_cmpuint (arena_test_count_mappings (), ==, n_mappings);
    }
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/view-survives-the-end", test);
  return g_test_run ();
}
