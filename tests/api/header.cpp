/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The headers are clean C++ and their functions link from it. */
#include <arena.h>

int
main ()
{
  g_assert_cmpuint (arena_get_major_version (), ==, ARENA_MAJOR_VERSION);

  return 0;
}
