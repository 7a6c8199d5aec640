/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* F10: unit 0 is held and all the others are free, and the producer still waits for the segment of unit 0. */

static void
test (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaSent sent[4], next;
  GBytes *held;

  arena_ends_open_pool (&ends, 1000, 4);
  for (guint i = 0; i < 4; i++)
    sent[i] = arena_ends_send (&ends, 1000, i);
  held = arena_ends_take (&ends, &sent[0]);
  for (guint i = 1; i < 4; i++)
    arena_ends_pass (&ends, &sent[i]);

  g_assert_false (arena_ends_try_send (&ends, 1000, 4, 0, &next, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  arena_ends_check (held, &sent[0]);
  g_bytes_unref (held);
  next = arena_ends_send (&ends, 1000, 4);
  g_assert_cmpuint (next.offset, ==, sent[0].offset);
  arena_ends_pass (&ends, &next);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/reuse-is-in-order", test);
  return g_test_run ();
}
