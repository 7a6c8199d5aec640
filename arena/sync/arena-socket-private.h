/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define ARENA_SOCKET_MAX_FDS 8

/* One received message. Descriptors are close-on-exec and owned by the message. */
typedef struct
{
  gboolean received; /* a zeroed message owns nothing, descriptor 0 least of all */
  gsize    size;
  int      fds[ARENA_SOCKET_MAX_FDS];
  guint    n_fds;
  gint64   pid;      /* of the sender, from the kernel; 0 where it can't be named in this pid namespace */
  guint    uid;
  int      pidfd;    /* SCM_PIDFD where the kernel has it, else -1 */
} ArenaMessage;

/* A connected SEQPACKET pair, close-on-exec, on which both ends ask the kernel for credentials (SO_PASSCRED, and
 * SO_PASSPIDFD where it exists): SO_PEERCRED on a pair names whoever made the pair, on both ends. */
gboolean arena_socket_pair    (int           sockets[2],
                               GError      **error);
/* Asks for credentials on a descriptor that came from elsewhere, and makes it close-on-exec; INVALID_ARGUMENT if it's
 * no SEQPACKET socket. */
gboolean arena_socket_adopt   (int           fd,
                               GError      **error);
/* Sends one message of @size > 0 bytes with @n_fds descriptors and credentials. Never blocks, never raises SIGPIPE.
 * Errors: PEER_GONE, WOULD_BLOCK, NO_SPACE (descriptors in flight), TOO_LARGE. */
gboolean arena_socket_send    (int           fd,
                               const void   *data,
                               gsize         size,
                               const int    *fds,
                               guint         n_fds,
                               GError      **error);
/* Receives one message without blocking. WOULD_BLOCK where none is there, PEER_GONE at end of file, PROTOCOL where
 * it's longer than @capacity, was truncated (MSG_CTRUNC) or carries more than ARENA_SOCKET_MAX_FDS descriptors;
 * NO_SPACE where they were cut off by this process's own limit. @message needs no initial value and owns nothing after
 * a failure. What a dead peer had sent is still delivered first. */
gboolean arena_socket_receive (int           fd,
                               void         *data,
                               gsize         capacity,
                               ArenaMessage *message,
                               GError      **error);

void     arena_message_clear  (ArenaMessage *self);
int      arena_message_steal_fd (ArenaMessage *self,
                                 guint         index);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ArenaMessage, arena_message_clear)

G_END_DECLS
