/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* C50: 20000 units of every size from 1 to 1000, in random order, through a ring of 1000 bytes, every byte checked; and the
 * same through one of 5000, where several are queued. */

#define UNITS 20000

static void
check (gsize capacity)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (42);
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent queue[256];
  guint64 head = 0;
  guint64 tail = 0;

  arena_ends_open_ring (&ends, capacity);
  while (tail < UNITS)
    {
      gsize size = head < 1000 ? (head * 617) % 1000 + 1 : (gsize) g_rand_int_range (random, 1, 1001);

      if (head < UNITS && head - tail < G_N_ELEMENTS (queue) &&
          arena_ends_try_send (&ends, size, head, 0, &queue[head % G_N_ELEMENTS (queue)], NULL))
        {
          head++;
          continue;
        }

      g_assert_cmpuint (head, >, tail);
      arena_ends_pass (&ends, &queue[tail % G_N_ELEMENTS (queue)]);
      tail++;
    }
}

static void
test (void)
{
  check (1000);
  check (5000);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/ring/every-size-random-order", test);
  return g_test_run ();
}
