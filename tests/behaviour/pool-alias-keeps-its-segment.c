/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* F09, F117: a part of a part of a view keeps the segment, and nothing is given back before the last of them dies. */

static void
test (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaSent sent, next;
  GBytes *view, *part, *small;

  arena_ends_open_pool (&ends, 1000, 1);
  sent = arena_ends_send (&ends, 1000, 1);
  view = arena_ends_take (&ends, &sent);
  part = g_bytes_new_from_bytes (view, 100, 500);
  small = g_bytes_new_from_bytes (part, 10, 1);
  g_bytes_unref (view);
  g_bytes_unref (part);

  g_assert_false (arena_ends_try_send (&ends, 1000, 2, 0, &next, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (atomic_load (&ends.storage->channel->cc->released), ==, 0);
  g_bytes_unref (small);
  g_assert_cmpuint (atomic_load (&ends.storage->channel->cc->released), ==, 1);
  next = arena_ends_send (&ends, 1000, 2);
  arena_ends_pass (&ends, &next);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/alias-keeps-its-segment", test);
  return g_test_run ();
}
