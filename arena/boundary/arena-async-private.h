/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "sync/arena-channel-private.h"
#include "sync/arena-wait-private.h"

G_BEGIN_DECLS

/* One look: returns the task's result by itself and TRUE, or FALSE with error, WOULD_BLOCK for "not yet". */
typedef gboolean (*ArenaAsyncAttempt) (GTask   *task,
                                       gpointer object,
                                       GError **error);
/* Before the task returns: the endpoint may be used again. Takes @error (nullable) and gives what to report. */
typedef GError  *(*ArenaAsyncLeave)   (gpointer object,
                                       GError  *error);

/* Runs @attempt until it says something else than WOULD_BLOCK, in the task's main context and without ever blocking it.
 * The endpoint has been entered. @what ends the message of TIMED_OUT. */
void arena_async_run (GTask             *task,
                      ArenaChannel      *channel,
                      ArenaWaiter       *waiter,
                      gint64             timeout,
                      const char        *what,
                      ArenaAsyncAttempt  attempt,
                      ArenaAsyncLeave    leave);

G_END_DECLS
