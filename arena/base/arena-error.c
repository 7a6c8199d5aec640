/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"

#include "base/arena-error-private.h"

#include <errno.h>

/* The one place where an errno value becomes a code, so that "no room" is the same code wherever it is met. */

/**
 * arena_error_quark:
 *
 * Gets the error domain of this library.
 *
 * Returns: the quark
 *
 * Since: 0.1
 */
G_DEFINE_QUARK (arena-error-quark, arena_error)

static ArenaError
code_from_errno (int        saved_errno,
                 ArenaError fallback)
{
  switch (saved_errno)
    {
    case ENOMEM:
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case EDQUOT:
      return ARENA_ERROR_NO_SPACE;
    default:
      return fallback;
    }
}

void
arena_set_error_errno (GError     **error,
                       ArenaError   fallback,
                       int          saved_errno,
                       const char  *operation,
                       const char  *object)
{
  g_set_error (error,
               ARENA_ERROR,
               (int) code_from_errno (saved_errno, fallback),
               "%s: %s: %s",
               operation,
               object,
               g_strerror (saved_errno));
}
