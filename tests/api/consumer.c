/* SPDX-License-Identifier: LGPL-2.1-or-later
 * What a program outside the project does; built against an installed copy by installed.py, and against a subproject. */
#include <arena.h>

int
main (void)
{
  g_assert_cmpuint (arena_get_major_version (), ==, ARENA_MAJOR_VERSION);
  g_assert_cmpuint (arena_get_minor_version (), ==, ARENA_MINOR_VERSION);
  g_assert_cmpuint (arena_get_micro_version (), ==, ARENA_MICRO_VERSION);

  return 0;
}
