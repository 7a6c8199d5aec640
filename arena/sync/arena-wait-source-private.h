/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sync/arena-wait-private.h"

G_BEGIN_DECLS

/* For a main context: ready once a try that said WOULD_BLOCK might say something else. Such a try has armed and looked
 * again, so whatever ends its wait signals the event, ends the peer or closes the socket; the source only watches those
 * descriptors (and the time) and notes a death. It never reads a shared word and never drains: the next try does.
 *
 * The source doesn't own the waiter: whoever attaches it keeps the channel until the source is destroyed. */
GSource *arena_wait_source_new      (ArenaWaiter   *waiter,
                                     GCancellable  *cancellable) G_GNUC_WARN_UNUSED_RESULT;
/* For a source that outlives tries: an answer to the hello ends the wait for messages, and may bring a pidfd. */
void     arena_wait_source_update   (GSource       *source);

/* An epoll descriptor over the same, which the caller owns; readable when the source would be ready. @pidfd is what it
 * watches, for updates. */
int      arena_waiter_new_epoll     (ArenaWaiter   *waiter,
                                     int           *pidfd,
                                     GError       **error);
void     arena_waiter_update_epoll  (ArenaWaiter   *waiter,
                                     int            epoll,
                                     int           *pidfd);

G_END_DECLS
