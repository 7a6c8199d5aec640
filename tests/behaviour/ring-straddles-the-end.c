/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F100, F114: units that begin before the end of the memory and go on at its start are one piece, and read back intact. */

static void
check (gsize capacity,
       gsize size,
       guint n_units)
{
  g_auto (ArenaEnds) ends = { 0 };
  guint64 data_size;
  guint n_straddling = 0;

  arena_ends_open_ring (&ends, capacity);
  data_size = ends.storage->channel->geometry.data_size;
  for (guint i = 0; i < n_units; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, size, i);

      n_straddling += sent.offset < data_size && sent.offset + size > data_size;
      arena_ends_pass (&ends, &sent);
    }

  g_assert_cmpuint (n_straddling, >, 0);
}

static void
test (void)
{
  check (8192, 5000, 100);
  check (4096, 4000, 100);
  check (4096, 130, 1000);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/ring/straddles-the-end", test);
  return g_test_run ();
}
