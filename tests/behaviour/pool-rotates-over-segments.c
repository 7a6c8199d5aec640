/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F07, F107: 10 units rotate over 3 segments; unit i lies in segment i mod 3. */

static void
test (void)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_pool (&ends, 5000, 3);
  for (guint i = 0; i < 10; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 5000, i);

      g_assert_cmpuint (sent.offset, ==, i % 3 * ends.storage->channel->geometry.stride);
      arena_ends_pass (&ends, &sent);
    }
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/rotates-over-segments", test);
  return g_test_run ();
}
