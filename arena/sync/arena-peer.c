/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-peer-private.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The descriptors change only during the handshake, on the thread that does it; afterwards any thread may look. `gone`
 * only gains bits. Nothing here reaps: the exit status stays for whoever spawned the peer, and a process that this one
 * didn't spawn has none that could be asked for. */

/* glibc has P_PIDFD as an enumerator, and only since 2.36. */
#define ID_PIDFD ((idtype_t) 3)

void
arena_peer_init (ArenaPeer *self)
{
  self->socket = -1;
  self->pidfd = -1;
  self->pidfd_pinned = FALSE;
  atomic_init (&self->gone, 0);
}

void
arena_peer_clear (ArenaPeer *self)
{
  if (self->socket >= 0)
    close (self->socket);
  if (self->pidfd >= 0)
    close (self->pidfd);

  self->socket = -1;
  self->pidfd = -1;
  self->pidfd_pinned = FALSE;
}

gboolean
arena_peer_is_pidfd (int fd)
{
  siginfo_t info;

  /* ECHILD: not a child of this process. EBADF: not a process descriptor. */
  return fd >= 0 && (waitid (ID_PIDFD, (id_t) fd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == ECHILD);
}

void
arena_peer_take_pidfd (ArenaPeer *self,
                       int        pidfd,
                       gboolean   pinned)
{
  if (pidfd < 0)
    return;

  if (self->pidfd_pinned)
    {
      close (pidfd);
      return;
    }

  if (self->pidfd >= 0)
    close (self->pidfd);
  self->pidfd = pidfd;
  self->pidfd_pinned = pinned;
}

void
arena_peer_open_pid (ArenaPeer *self,
                     gint64     pid)
{
  long fd;

  /* 0: the sender has no number in this pid namespace. */
  if (pid <= 0 || pid > G_MAXINT || self->pidfd >= 0)
    return;

  fd = syscall (SYS_pidfd_open, (pid_t) pid, 0);
  if (fd >= 0)
    self->pidfd = (int) fd;
  else if (errno == ESRCH)
    atomic_fetch_or (&self->gone, ARENA_PEER_EXITED); /* it had this number a moment ago */
}

gboolean
arena_peer_look (ArenaPeer *self)
{
  struct pollfd fds[] = {
    { .fd = self->socket, .events = POLLRDHUP },
    { .fd = self->pidfd, .events = POLLIN },
  };
  int n;

  do
    n = poll (fds, G_N_ELEMENTS (fds), 0);
  while (n < 0 && errno == EINTR);

  if (n > 0)
    {
      if ((fds[0].revents & (POLLRDHUP | POLLHUP)) != 0)
        atomic_fetch_or (&self->gone, ARENA_PEER_HUNG_UP);
      if ((fds[1].revents & POLLIN) != 0)
        atomic_fetch_or (&self->gone, ARENA_PEER_EXITED);
    }

  return arena_peer_is_gone (self);
}

/* NULL where a child of this process has not ended yet. */
char *
arena_peer_describe_end (int code,
                         int status)
{
  return g_strdup_printf (code == CLD_EXITED ? "exited with code %d" : "killed by signal %d", status);
}

static char *
describe_exit (int pidfd)
{
  siginfo_t info = { 0 };

  if (pidfd < 0 || waitid (ID_PIDFD, (id_t) pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
    return g_strdup ("exited, status unknown: not a child of this process, or already reaped");
  if (info.si_pid == 0)
    return NULL;

  return arena_peer_describe_end (info.si_code, info.si_status);
}

char *
arena_peer_describe (ArenaPeer *self)
{
  char *text = NULL;
  guint gone;

  /* A dying process closes its socket first: by now there may be more to say. */
  arena_peer_look (self);
  gone = atomic_load (&self->gone);

  if ((gone & ARENA_PEER_EXITED) != 0)
    text = describe_exit (self->pidfd);
  if (text != NULL)
    return text;

  return g_strdup (gone != 0 ? "hung up" : "still there");
}
