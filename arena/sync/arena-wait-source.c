/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-wait-source-private.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/arena-error-private.h"

typedef struct
{
  GSource      source;
  ArenaWaiter *waiter;
  gpointer     event_tag;
  gpointer     socket_tag;
  gpointer     pidfd_tag; /* NULL: none */
  int          pidfd;
  gboolean     want_message;
} ArenaWaitSource;

static gpointer
add_fd (GSource *source,
        int      fd,
        guint    events)
{
  return fd >= 0 ? g_source_add_unix_fd (source, fd, (GIOCondition) events) : NULL;
}

static guint
query (GSource *source,
       gpointer tag)
{
  return tag != NULL ? (guint) g_source_query_unix_fd (source, tag) : 0;
}

static gboolean
wait_source_check (GSource *source)
{
  ArenaWaitSource *self = (ArenaWaitSource *) source;
  guint socket_events = query (source, self->socket_tag);
  guint gone = 0;

  if ((socket_events & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
    gone |= ARENA_PEER_HUNG_UP;
  if (query (source, self->pidfd_tag) != 0)
    gone |= ARENA_PEER_EXITED;
  if (gone != 0)
    atomic_fetch_or_explicit (&self->waiter->peer->gone, gone, memory_order_seq_cst);

  return gone != 0 || socket_events != 0 || query (source, self->event_tag) != 0;
}

static gboolean
wait_source_dispatch (GSource     *source G_GNUC_UNUSED,
                      GSourceFunc  callback,
                      gpointer     user_data)
{
  return callback != NULL ? callback (user_data) : G_SOURCE_REMOVE;
}

static GSourceFuncs wait_source_funcs = {
  .check = wait_source_check,
  .dispatch = wait_source_dispatch,
};

static guint
socket_events (const ArenaWaiter *waiter)
{
  return waiter->want_message ? POLLRDHUP | POLLIN : POLLRDHUP;
}

/* Only wakes the source; whoever is called then looks at the cancellable. */
static gboolean
keep_source (GCancellable *cancellable G_GNUC_UNUSED,
             gpointer      user_data G_GNUC_UNUSED)
{
  return G_SOURCE_CONTINUE;
}

GSource *
arena_wait_source_new (ArenaWaiter  *waiter,
                       GCancellable *cancellable)
{
  GSource *source = g_source_new (&wait_source_funcs, sizeof (ArenaWaitSource));
  ArenaWaitSource *self = (ArenaWaitSource *) source;

  g_source_set_static_name (source, "Arena wait");
  self->waiter = waiter;
  self->event_tag = add_fd (source, waiter->event, POLLIN);
  self->socket_tag = add_fd (source, waiter->peer->socket, socket_events (waiter));
  self->pidfd_tag = add_fd (source, waiter->peer->pidfd, POLLIN);
  self->pidfd = waiter->peer->pidfd;
  self->want_message = waiter->want_message;

  if (cancellable != NULL)
    {
      g_autoptr(GSource) child = g_cancellable_source_new (cancellable);

      g_source_set_callback (child, G_SOURCE_FUNC (keep_source), NULL, NULL);
      g_source_add_child_source (source, child);
    }

  return source;
}

void
arena_wait_source_update (GSource *source)
{
  ArenaWaitSource *self = (ArenaWaitSource *) source;
  ArenaWaiter *waiter = self->waiter;

  if (self->want_message != waiter->want_message)
    {
      self->want_message = waiter->want_message;
      g_source_modify_unix_fd (source, self->socket_tag, (GIOCondition) socket_events (waiter));
    }

  if (self->pidfd != waiter->peer->pidfd)
    {
      if (self->pidfd_tag != NULL)
        g_source_remove_unix_fd (source, self->pidfd_tag);
      self->pidfd = waiter->peer->pidfd;
      self->pidfd_tag = add_fd (source, self->pidfd, POLLIN);
    }
}

static gboolean
watch (int   epoll,
       int   fd,
       guint events)
{
  struct epoll_event event = { .events = events };

  return fd < 0 || epoll_ctl (epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static guint
epoll_events (const ArenaWaiter *waiter)
{
  return waiter->want_message ? EPOLLRDHUP | EPOLLIN : EPOLLRDHUP;
}

int
arena_waiter_new_epoll (ArenaWaiter  *waiter,
                        int          *pidfd,
                        GError      **error)
{
  int epoll = epoll_create1 (EPOLL_CLOEXEC);

  *pidfd = waiter->peer->pidfd;
  if (epoll >= 0 && watch (epoll, waiter->event, EPOLLIN) &&
      watch (epoll, waiter->peer->socket, epoll_events (waiter)) && watch (epoll, *pidfd, EPOLLIN))
    return epoll;

  arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, errno, "epoll", "a boundary's descriptors");
  if (epoll >= 0)
    close (epoll);
  return -1;
}

/* A descriptor that was replaced is closed by now, and so has left the set by itself. */
void
arena_waiter_update_epoll (ArenaWaiter *waiter,
                           int          epoll,
                           int         *pidfd)
{
  struct epoll_event event = { .events = epoll_events (waiter) };

  epoll_ctl (epoll, EPOLL_CTL_MOD, waiter->peer->socket, &event);
  if (*pidfd == waiter->peer->pidfd)
    return;

  *pidfd = waiter->peer->pidfd;
  watch (epoll, *pidfd, EPOLLIN);
}
