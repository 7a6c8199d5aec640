/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-wait-private.h"

#define SLICE (100 * G_TIME_SPAN_MILLISECOND)

static void
set_slice (NativeWait *self)
{
  self->slice = self->longest;
  if (self->timeout > 0)
    self->slice = CLAMP (self->end - g_get_monotonic_time (), 1, self->longest);
}

void
native_wait_init (NativeWait *self,
                  gint64      timeout,
                  gint64      more)
{
  gint64 now = g_get_monotonic_time ();

  *self = (NativeWait) {
    .timeout = timeout,
    .longest = SLICE + MIN (more, G_MAXINT64 - SLICE),
    .slice = timeout,
  };
  self->end = timeout > G_MAXINT64 - now ? G_MAXINT64 : now + timeout;
  if (timeout > 0 || timeout == -1)
    set_slice (self);
}

gboolean
native_wait_goes_on (NativeWait  *self,
                     GError     **error)
{
  if (!g_error_matches (*error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT) ||
      (self->timeout > 0 && g_get_monotonic_time () >= self->end))
    return FALSE;

  g_clear_error (error);
  set_slice (self);
  return PyErr_CheckSignals () == 0;
}
