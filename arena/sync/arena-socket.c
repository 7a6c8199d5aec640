/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-socket-private.h"

#include "base/arena-error-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* One message is one record of the socket: it arrives whole, with all its descriptors, or not at all. The kernel adds
 * the sender's credentials by itself since both ends ask for them, so they can't be made up. Every descriptor that
 * arrives is owned from the first moment: whatever is refused afterwards, each one is closed.
 * O_NONBLOCK belongs to the file description, which other processes may share, so each call asks for itself. */

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 0x04
#endif

/* Room for every descriptor that is allowed, the credentials and a pidfd. The kernel fills what is left with more
 * descriptors, so somewhat more than the allowed number can arrive. */
#define CONTROL_SIZE (CMSG_SPACE (ARENA_SOCKET_MAX_FDS * sizeof (int)) + \
                      CMSG_SPACE (sizeof (struct ucred)) + CMSG_SPACE (sizeof (int)))

typedef union
{
  char           bytes[CONTROL_SIZE];
  struct cmsghdr align;
} Control;

static gboolean
ask_for_credentials (int fd)
{
  const int on = 1;

  if (setsockopt (fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
    return FALSE;

  /* Linux 6.5; without it the pid is opened, or hang-up has to do. */
  (void) setsockopt (fd, SOL_SOCKET, SO_PASSPIDFD, &on, sizeof on);
  return TRUE;
}

gboolean
arena_socket_pair (int      sockets[2],
                   GError **error)
{
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
    {
      arena_set_error_errno (error, ARENA_ERROR_NOT_SUPPORTED, errno, "socketpair", "SEQPACKET");
      sockets[0] = sockets[1] = -1;
      return FALSE;
    }

  if (ask_for_credentials (sockets[0]) && ask_for_credentials (sockets[1]))
    return TRUE;

  arena_set_error_errno (error, ARENA_ERROR_NOT_SUPPORTED, errno, "setsockopt", "SO_PASSCRED");
  for (guint i = 0; i < 2; i++)
    {
      close (sockets[i]);
      sockets[i] = -1;
    }
  return FALSE;
}

static gboolean
has_option (int fd,
            int option,
            int expected)
{
  int value = -1;
  socklen_t size = sizeof value;

  return getsockopt (fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

gboolean
arena_socket_adopt (int      fd,
                    GError **error)
{
  if (!has_option (fd, SO_DOMAIN, AF_UNIX) || !has_option (fd, SO_TYPE, SOCK_SEQPACKET))
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
                   "descriptor %d is not a Unix socket of type SEQPACKET", fd);
      return FALSE;
    }

  /* It may have been inherited; a child of this process that kept it would hide this one's death. */
  if (fcntl (fd, F_SETFD, FD_CLOEXEC) == 0 && ask_for_credentials (fd))
    return TRUE;

  arena_set_error_errno (error, ARENA_ERROR_INVALID_ARGUMENT, errno, "setsockopt", "SO_PASSCRED");
  return FALSE;
}

/* 0 where it is unknown. */
static guint64
get_fd_limit (void)
{
  struct rlimit limit = { 0 };

  (void) getrlimit (RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

static void
set_send_error (GError **error,
                int      saved_errno)
{
  if (saved_errno == EPIPE || saved_errno == ECONNRESET)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "send: the peer has closed its socket");
  else if (saved_errno == EAGAIN)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "send: the socket is full");
  else if (saved_errno == ETOOMANYREFS)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE,
                 "send: more descriptors of this user are in flight than RLIMIT_NOFILE allows, %" G_GUINT64_FORMAT,
                 get_fd_limit ());
  else if (saved_errno == ENOBUFS)
    arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, saved_errno, "send", "socket");
  else if (saved_errno == EMSGSIZE)
    arena_set_error_errno (error, ARENA_ERROR_TOO_LARGE, saved_errno, "send", "socket");
  else
    arena_set_error_errno (error, ARENA_ERROR_INVALID_STATE, saved_errno, "send", "socket");
}

gboolean
arena_socket_send (int          fd,
                   const void  *data,
                   gsize        size,
                   const int   *fds,
                   guint        n_fds,
                   GError     **error)
{
  struct iovec part = { .iov_base = (void *) data, .iov_len = size };
  struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
  Control control = { 0 };
  gssize sent;

  g_return_val_if_fail (size > 0 && n_fds <= ARENA_SOCKET_MAX_FDS, FALSE);

  if (n_fds > 0)
    {
      struct cmsghdr *item;

      header.msg_control = control.bytes;
      header.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      item = CMSG_FIRSTHDR (&header);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN (n_fds * sizeof (int));
      memcpy (CMSG_DATA (item), fds, n_fds * sizeof (int));
    }

  do
    sent = sendmsg (fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);

  if (sent < 0)
    set_send_error (error, errno);

  return sent >= 0;
}

/* Keeps the allowed number and closes the rest; returns how many arrived. */
static guint
take_fds (ArenaMessage         *self,
          const struct cmsghdr *item)
{
  guint n = (guint) ((item->cmsg_len - CMSG_LEN (0)) / sizeof (int));

  for (guint i = 0; i < n; i++)
    {
      int fd;

      memcpy (&fd, CMSG_DATA (item) + i * sizeof fd, sizeof fd);
      if (self->n_fds < ARENA_SOCKET_MAX_FDS)
        self->fds[self->n_fds++] = fd;
      else
        close (fd);
    }

  return n;
}

/* Returns how many descriptors arrived, which may be more than are kept. */
static guint
take_control (ArenaMessage  *self,
              struct msghdr *header)
{
  guint n_arrived = 0;

  for (struct cmsghdr *item = CMSG_FIRSTHDR (header); item != NULL; item = CMSG_NXTHDR (header, item))
    {
      if (item->cmsg_level != SOL_SOCKET)
        continue;

      if (item->cmsg_type == SCM_RIGHTS)
        n_arrived += take_fds (self, item);
      else if (item->cmsg_type == SCM_PIDFD && item->cmsg_len >= CMSG_LEN (sizeof (int)))
        memcpy (&self->pidfd, CMSG_DATA (item), sizeof (int));
      else if (item->cmsg_type == SCM_CREDENTIALS && item->cmsg_len >= CMSG_LEN (sizeof (struct ucred)))
        {
          struct ucred credentials;

          memcpy (&credentials, CMSG_DATA (item), sizeof credentials);
          self->pid = credentials.pid;
          self->uid = credentials.uid;
        }
    }

  /* The kernel stores an errno here where it could not make one. */
  self->pidfd = MAX (self->pidfd, -1);
  return n_arrived;
}

/* Descriptors also go missing where this process may not have any more: then the peer is not to blame. */
static void
set_truncation_error (int      fd,
                      GError **error)
{
  int probe = fcntl (fd, F_DUPFD_CLOEXEC, 0);

  if (probe >= 0)
    {
      close (probe);
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                   "receive: descriptors were cut off, a message has at most %d", ARENA_SOCKET_MAX_FDS);
      return;
    }

  arena_set_error_errno (error, ARENA_ERROR_PROTOCOL, errno, "receive", "descriptors (RLIMIT_NOFILE)");
}

static gboolean
check_message (int                  fd,
               const struct msghdr *header,
               gsize                size,
               gsize                capacity,
               guint                n_arrived,
               GError             **error)
{
  if (size == 0 && header->msg_controllen == 0)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "receive: the peer has closed its socket");
  else if (n_arrived > ARENA_SOCKET_MAX_FDS)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "receive: %u or more descriptors, a message has at most %d",
                 n_arrived, ARENA_SOCKET_MAX_FDS);
  else if ((header->msg_flags & MSG_CTRUNC) != 0)
    set_truncation_error (fd, error);
  else if ((header->msg_flags & MSG_TRUNC) != 0)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                 "receive: a message of more than %" G_GSIZE_FORMAT " bytes", capacity);
  else
    return TRUE;

  return FALSE;
}

/* A peer that closes with something unread leaves ECONNRESET in front of what it had sent, once. */
static gssize
receive_once (int            fd,
              struct msghdr *header)
{
  const gsize control_size = header->msg_controllen;
  gboolean was_reset = FALSE;

  for (;;)
    {
      gssize size = recvmsg (fd, header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

      if (size >= 0 || (errno != EINTR && (errno != ECONNRESET || was_reset)))
        return size;

      was_reset = was_reset || errno == ECONNRESET;
      header->msg_controllen = control_size;
    }
}

gboolean
arena_socket_receive (int            fd,
                      void          *data,
                      gsize          capacity,
                      ArenaMessage  *message,
                      GError       **error)
{
  Control control = { 0 };
  struct iovec part = { .iov_base = data, .iov_len = capacity };
  struct msghdr header = {
    .msg_iov = &part,
    .msg_iovlen = 1,
    .msg_control = control.bytes,
    .msg_controllen = sizeof control.bytes,
  };
  gssize size;

  *message = (ArenaMessage) { .received = TRUE, .uid = G_MAXUINT, .pidfd = -1 };
  size = receive_once (fd, &header);
  if (size < 0)
    {
      if (errno == EAGAIN)
        g_set_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "receive: no message is there");
      else if (errno == ECONNRESET)
        g_set_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "receive: the peer has closed its socket");
      else
        arena_set_error_errno (error, ARENA_ERROR_INVALID_STATE, errno, "receive", "socket");
      return FALSE;
    }

  if (!check_message (fd, &header, (gsize) size, capacity, take_control (message, &header), error))
    {
      arena_message_clear (message);
      return FALSE;
    }

  message->size = (gsize) size;
  return TRUE;
}

void
arena_message_clear (ArenaMessage *self)
{
  if (!self->received)
    return;

  for (guint i = 0; i < self->n_fds; i++)
    if (self->fds[i] >= 0)
      close (self->fds[i]);
  if (self->pidfd >= 0)
    close (self->pidfd);

  *self = (ArenaMessage) { .pidfd = -1 };
}

int
arena_message_steal_fd (ArenaMessage *self,
                        guint         index)
{
  int fd;

  g_return_val_if_fail (index < self->n_fds, -1);

  fd = self->fds[index];
  self->fds[index] = -1;
  return fd;
}
