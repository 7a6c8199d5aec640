/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An eventfd both sides hold. Returns -1 and sets NO_SPACE where no descriptor can be had. */
int      arena_event_new    (GError     **error);
/* What a receiver checks: PROTOCOL, naming @what, where @fd is no eventfd (a regular file would poll readable for
 * ever). Without /proc it believes. */
gboolean arena_event_check  (int          fd,
                             const char  *what,
                             GError     **error);
/* Wakes whoever sleeps on it. Async-signal-safe, never fails, and never blocks unless the peer both cleared O_NONBLOCK
 * and filled the count on purpose: the kernel knows no RWF_NOWAIT for this write. */
void     arena_event_signal (int          fd);
/* Empties it without ever blocking: the peer shares the file description and could have cleared O_NONBLOCK,
 * so this asks per call (preadv2 RWF_NOWAIT; poll first where the kernel refuses that). */
void     arena_event_drain  (int          fd);

/* Empties it; FALSE where it was empty. Of several processes that share it and ask at the same time one is told TRUE. Only
 * among copies of one's own process: see drain(). */
gboolean arena_event_take   (int          fd);

G_END_DECLS
