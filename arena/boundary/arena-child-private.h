/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <pthread.h>

G_BEGIN_DECLS

/* A process of our own: started with one descriptor, watched by pidfd, reaped by us alone. Once it is started, any
 * number of threads may wait for its end and signal it. */
typedef struct
{
  pthread_mutex_t mutex; /* guards what follows pidfd; nobody sleeps with it */
  int  pidfd;            /* -1: the kernel or valgrind has none */
  GPid pid;              /* 0: none, or reaped */
  int  wait_status;      /* -1 until reaped, and where somebody else reaped it; constant then */
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
void     arena_child_clear  (ArenaChild           *self);

G_END_DECLS
