/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A process of our own: started with one descriptor, watched by pidfd, reaped by us alone. Not thread-safe. */
typedef struct
{
  GPid pid;         /* 0: none, or reaped */
  int  pidfd;       /* -1: the kernel or valgrind has none */
  int  wait_status; /* -1 until reaped, and where somebody else reaped it */
} ArenaChild;

void     arena_child_init   (ArenaChild           *self);
/* The child inherits @fd as its descriptor 3, named in its environment. Standard streams are kept.
 * INVALID_ARGUMENT where the program can't be started. */
gboolean arena_child_spawn  (ArenaChild           *self,
                             const char * const   *argv,
                             const char * const   *envp,
                             const char           *cwd,
                             int                   fd,
                             GError              **error);
/* TRUE once it has ended and been reaped, waiting at most @timeout_us. FALSE with error: cancelled. */
gboolean arena_child_wait   (ArenaChild           *self,
                             gint64                timeout_us,
                             GCancellable         *cancellable,
                             GError              **error);
void     arena_child_signal (ArenaChild           *self,
                             int                   signal_number);
/* From any thread, while another one is in wait(): SIGKILL where it hasn't ended by @deadline. Nothing without a pidfd. */
void     arena_child_kill_at (ArenaChild          *self,
                             gint64                deadline);
void     arena_child_clear  (ArenaChild           *self);

G_END_DECLS
