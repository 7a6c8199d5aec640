/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* The other process as this one can watch it: its end of the socket and, where there is one, its pidfd. Never a pid
 * number, never a heartbeat. Both are watched, since a child forked by the peer keeps the socket from hanging up. */
typedef struct
{
  int           socket;       /* own end; -1: in one process, nothing to watch */
  int           pidfd;        /* -1: hang-up only */
  gboolean      pidfd_pinned; /* given by the spawner: a later one from the hello doesn't replace it */
  _Atomic guint gone;         /* ARENA_PEER_*; once set it stays */
} ArenaPeer;

#define ARENA_PEER_HUNG_UP (1u << 0)
#define ARENA_PEER_EXITED  (1u << 1)

void     arena_peer_init       (ArenaPeer   *self);
/* Closes what it holds. */
void     arena_peer_clear      (ArenaPeer   *self);
/* Anything else would never, or at once, look like a death. */
gboolean arena_peer_is_pidfd   (int          fd);
/* Takes over @pidfd (unless a spawner's is there: then closes it). @pid 0 or no pidfd_open: hang-up only. */
void     arena_peer_take_pidfd (ArenaPeer   *self,
                                int          pidfd,
                                gboolean     pinned);
void     arena_peer_open_pid   (ArenaPeer   *self,
                                gint64       pid);
/* One look without waiting; TRUE if the peer is gone. */
gboolean arena_peer_look       (ArenaPeer   *self);
/* "killed by signal 9", "exited with code 3", "hung up": only what can be known without reaping (waitid WNOWAIT). */
char    *arena_peer_describe   (ArenaPeer   *self);
/* The same of what waitid() says: si_code and si_status. */
char    *arena_peer_describe_end (int       code,
                                  int       status);

static inline gboolean
arena_peer_is_gone (ArenaPeer *self)
{
  return atomic_load_explicit (&self->gone, memory_order_seq_cst) != 0;
}

G_END_DECLS
