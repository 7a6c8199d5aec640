/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-vfunc-private.h"

#include "base/arena-error-private.h"

/* Only failures come here, but for the one test in arena_vfunc_end(): a call that works pays nothing. */

void
arena_vfunc_set_missing (gpointer     self,
                         const char  *method,
                         GError     **error)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "%s does not implement %s()", G_OBJECT_TYPE_NAME (self), method);
}

void
arena_vfunc_set_broken (gpointer     self,
                        const char  *method,
                        const char  *what,
                        GError     **error)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "%s.%s() %s", G_OBJECT_TYPE_NAME (self), method, what);
}

gboolean
arena_vfunc_end (gpointer     self,
                 const char  *method,
                 gboolean     success,
                 GError      *local_error,
                 GError     **error)
{
  if (G_LIKELY (success && local_error == NULL))
    return TRUE;

  if (local_error != NULL)
    g_propagate_error (error, local_error);
  else
    arena_vfunc_set_broken (self, method, "failed without saying why", error);

  return FALSE;
}
