/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-version.h"

/**
 * arena_get_major_version:
 *
 * Gets the major version of the library this program runs with.
 *
 * It may differ from [const@Arena.MAJOR_VERSION], which is fixed when the program is compiled.
 *
 * Returns: the major version
 *
 * Since: 0.1
 */
guint
arena_get_major_version (void)
{
  return ARENA_MAJOR_VERSION;
}

/**
 * arena_get_minor_version:
 *
 * Gets the minor version of the library this program runs with.
 *
 * Returns: the minor version
 *
 * Since: 0.1
 */
guint
arena_get_minor_version (void)
{
  return ARENA_MINOR_VERSION;
}

/**
 * arena_get_micro_version:
 *
 * Gets the micro version of the library this program runs with.
 *
 * Returns: the micro version
 *
 * Since: 0.1
 */
guint
arena_get_micro_version (void)
{
  return ARENA_MICRO_VERSION;
}
