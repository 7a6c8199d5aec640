/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-event-private.h"

#include "base/arena-error-private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* Nothing here keeps state: an event is its descriptor. signal() and drain() run in finalizers, in collectors and in
 * signal handlers, so they take no lock, allocate nothing and leave errno as it was. */

int
arena_event_new (GError **error)
{
  int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);

  if (fd < 0)
    arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, errno, "eventfd", "wake event");

  return fd;
}

gboolean
arena_event_check (int          fd,
                   const char  *what,
                   GError     **error)
{
  char path[64];
  char target[64];
  gssize length;

  g_snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
  length = readlink (path, target, sizeof target - 1);
  if (length < 0)
    return TRUE;

  target[length] = '\0';
  if (strcmp (target, "anon_inode:[eventfd]") == 0)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "%s is %s, must be an eventfd", what, target);
  return FALSE;
}

void
arena_event_signal (int fd)
{
  const guint64 one = 1;
  int saved_errno = errno;
  gssize written;

  /* EAGAIN: the count is full, so it's signalled already. */
  do
    written = write (fd, &one, sizeof one);
  while (written < 0 && errno == EINTR);

  errno = saved_errno;
}

/* For kernels that refuse RWF_NOWAIT on an eventfd (before 5.8). */
static void
drain_after_poll (int fd)
{
  struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
  guint64 count;

  if (poll (&poll_fd, 1, 0) > 0 && (poll_fd.revents & POLLIN) != 0)
    (void) !read (fd, &count, sizeof count);
}

void
arena_event_drain (int fd)
{
  guint64 count;
  const struct iovec part = { .iov_base = &count, .iov_len = sizeof count };
  int saved_errno = errno;

  if (preadv2 (fd, &part, 1, -1, RWF_NOWAIT) < 0 && errno != EAGAIN)
    drain_after_poll (fd);

  errno = saved_errno;
}

gboolean
arena_event_take (int fd)
{
  guint64 count;
  gssize size;

  do
    size = read (fd, &count, sizeof count);
  while (size < 0 && errno == EINTR);

  return size == sizeof count;
}
