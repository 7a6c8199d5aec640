/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-timing-private.h"

#include "base/arena-error-private.h"

/* arena_timing is written by tests only, before they make an endpoint, and read without a lock. A deadline is a time
 * of CLOCK_MONOTONIC, which is never 0 or -1, so these two can mean "a try" and "none". */

ArenaTiming arena_timing = {
  .stall_log = G_USEC_PER_SEC,
  .join = 3 * G_USEC_PER_SEC,
  .terminate = G_USEC_PER_SEC,
  .kill = G_USEC_PER_SEC,
  .dispose_grace = G_USEC_PER_SEC / 5,
  .look = G_USEC_PER_SEC / 10,
  .exit_status = G_USEC_PER_SEC / 5,
};

gint64
arena_deadline_from_timeout (gint64 timeout)
{
  gint64 now;

  if (timeout <= 0)
    return timeout < 0 ? -1 : 0;

  now = g_get_monotonic_time ();
  return timeout > G_MAXINT64 - now ? G_MAXINT64 : now + timeout;
}

gboolean
arena_timeout_check (gint64   timeout,
                     GError **error)
{
  if (timeout >= -1)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
               "timeout is %" G_GINT64_FORMAT ", must be -1 (none), 0 (a try) or microseconds", timeout);
  return FALSE;
}
