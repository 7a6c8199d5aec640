/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-kill.h"

/* Wherever the producer of a pool is killed, its peer gets what was published, is told so, and leaves nothing behind. */

int
main (int    argc,
      char **argv)
{
  return arena_test_kill_matrix (&argc, &argv, FALSE, ARENA_TEST_PRODUCER);
}
