/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-channel-private.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/arena-error-private.h"
#include "memory/arena-memfd-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"
#include "sync/arena-socket-private.h"

/* How two processes come to share a channel. The consumer leaves a hello in a socket pair before the other end goes
 * anywhere, so a producer finds it there at once; the producer answers when it has mapped everything. Whoever made a
 * file has mapped it writable and then sealed it against further writers, and the receiver checks that before it maps.
 */

#define SIZE_SEALS    (F_SEAL_SHRINK | F_SEAL_GROW)
#define CONTROL_SEALS (SIZE_SEALS | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

enum
{
  FD_CONSUMER_PAGE,
  FD_WAKE_PRODUCER,
  FD_WAKE_CONSUMER,
  FD_DATA,
};

static void
clear_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

/* An invitation counts: whoever gets it may attach at any time. */
static gboolean
claim_producer (ArenaChannel  *self,
                GError       **error)
{
  if (atomic_exchange_explicit (&self->attached, 1, memory_order_seq_cst) == 0)
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
                       "This arena has a producer already and serves one in its life; create a new arena");
  return FALSE;
}

gboolean
arena_channel_invite (ArenaChannel  *self,
                      int            data_fd,
                      GError       **error)
{
  const int fds[] = { self->page_fd, self->wake_producer, self->wake_consumer, data_fd };
  ArenaHelloMessage hello;
  int sockets[2];

  if (!claim_producer (self, error))
    return FALSE;

  if (!arena_socket_pair (sockets, error))
    {
      arena_channel_uninvite (self);
      return FALSE;
    }

  self->peer.socket = sockets[0];
  self->remote_socket = sockets[1];

  arena_hello_encode (&self->geometry, (guint) getuid (), &hello);
  if (arena_socket_send (self->peer.socket, &hello, sizeof hello, fds, arena_geometry_n_fds (&self->geometry), error))
    return TRUE;

  arena_channel_uninvite (self);
  return FALSE;
}

void
arena_channel_uninvite (ArenaChannel *self)
{
  clear_fd (&self->peer.socket);
  clear_fd (&self->remote_socket);
  atomic_store_explicit (&self->attached, 0, memory_order_seq_cst);
}

int
arena_channel_steal_remote (ArenaChannel  *self,
                            GError       **error)
{
  int fd;

  /* Any thread may ask, one gets it. */
  if (__atomic_load_n (&self->remote_socket, __ATOMIC_RELAXED) < 0 ||
      (fd = __atomic_exchange_n (&self->remote_socket, -1, __ATOMIC_ACQ_REL)) < 0)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
                           "This arena was handed to a producer already and serves one in its life; create a new arena");
      return -1;
    }

  clear_fd (&self->page_fd);
  return fd;
}

static gboolean
check_sender (const ArenaMessage  *message,
              guint                n_fds,
              const char          *what,
              GError             **error)
{
  if (message->n_fds != n_fds)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "The %s carries %u file descriptors instead of %u",
                   what, message->n_fds, n_fds);
      return FALSE;
    }

  if (message->uid != (guint) getuid () && message->uid != 0 && getuid () != 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "The %s comes from user %u, this process is user %u",
                   what, message->uid, (guint) getuid ());
      return FALSE;
    }

  return TRUE;
}

static void
watch_sender (ArenaChannel *self,
              ArenaMessage *message)
{
  if (message->pidfd >= 0)
    arena_peer_take_pidfd (&self->peer, g_steal_fd (&message->pidfd), FALSE);
  else
    arena_peer_open_pid (&self->peer, message->pid);
}

gboolean
arena_channel_accept (ArenaChannel  *self,
                      GError       **error)
{
  g_auto(ArenaMessage) message = { 0 };
  guint64 size = arena_geometry_producer_page_size (&self->geometry);
  ArenaReplyMessage reply;

  if (self->cp != NULL)
    return TRUE;

  if (!arena_socket_receive (self->peer.socket, &reply, sizeof reply, &message, error))
    return FALSE;

  if (!arena_reply_decode (&reply, message.size, &self->geometry, error) ||
      !check_sender (&message, 1, "producer's answer", error) ||
      !arena_memfd_check (message.fds[0], size, CONTROL_SEALS, "producer's control file", error))
    return FALSE;

  self->producer_mapping = arena_mapping_new (message.fds[0], (gsize) size,
                                              ARENA_MAPPING_READ_ONLY | ARENA_MAPPING_CONTROL, error);
  if (self->producer_mapping == NULL)
    return FALSE;

  watch_sender (self, &message);
  self->cp = (ArenaProducerPage *) (void *) arena_mapping_get_data (self->producer_mapping);
  return TRUE;
}

/* Makes the page this process writes as a producer; page_fd keeps it for the answer. */
static gboolean
make_producer_page (ArenaChannel  *self,
                    GError       **error)
{
  guint64 size = arena_geometry_producer_page_size (&self->geometry);

  self->page_fd = arena_memfd_new ("arena-producer", size, NULL, error);
  if (self->page_fd < 0)
    return FALSE;

  self->producer_mapping = arena_mapping_new (self->page_fd, (gsize) size,
                                              ARENA_MAPPING_WRITABLE | ARENA_MAPPING_CONTROL, error);
  if (self->producer_mapping == NULL || !arena_mapping_populate (self->producer_mapping, error))
    return FALSE;

  arena_kill_point (ARENA_KILL_AFTER_MAP);
  self->cp = (ArenaProducerPage *) (void *) arena_mapping_get_data (self->producer_mapping);
  atomic_store_explicit (&self->cp->qhead, self->geometry.first_cursor, memory_order_relaxed);
  if (!arena_memfd_seal (self->page_fd, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL, error))
    return FALSE;

  arena_kill_point (ARENA_KILL_AFTER_SEAL);
  return TRUE;
}

gboolean
arena_channel_attach_local (ArenaChannel  *self,
                            GError       **error)
{
  gboolean attached;
  int consumer_fd;

  if (!claim_producer (self, error))
    return FALSE;

  consumer_fd = g_steal_fd (&self->page_fd);
  attached = make_producer_page (self, error);
  clear_fd (&self->page_fd);
  if (attached)
    {
      clear_fd (&consumer_fd);
      return TRUE;
    }

  self->page_fd = consumer_fd; /* an invitation may follow */

  self->cp = NULL;
  g_clear_pointer (&self->producer_mapping, arena_mapping_unref);
  atomic_store_explicit (&self->attached, 0, memory_order_seq_cst);
  return FALSE;
}

static gboolean
adopt_hello (ArenaChannel  *self,
             ArenaMessage  *message,
             GError       **error)
{
  guint64 size = arena_geometry_consumer_page_size (&self->geometry);

  if (!check_sender (message, arena_geometry_n_fds (&self->geometry), "hello", error) ||
      !arena_memfd_check (message->fds[FD_CONSUMER_PAGE], size, CONTROL_SEALS, "consumer's control file", error) ||
      !arena_event_check (message->fds[FD_WAKE_PRODUCER], "producer's event", error) ||
      !arena_event_check (message->fds[FD_WAKE_CONSUMER], "consumer's event", error))
    return FALSE;

  if (self->geometry.kind != ARENA_KIND_NONE &&
      !arena_memfd_check (message->fds[FD_DATA], self->geometry.data_size, SIZE_SEALS, "arena's data file", error))
    return FALSE;

  self->consumer_mapping = arena_mapping_new (message->fds[FD_CONSUMER_PAGE], (gsize) size,
                                              ARENA_MAPPING_READ_ONLY | ARENA_MAPPING_CONTROL, error);
  if (self->consumer_mapping == NULL)
    return FALSE;

  self->cc = (ArenaConsumerPage *) (void *) arena_mapping_get_data (self->consumer_mapping);
  self->wake_producer = arena_message_steal_fd (message, FD_WAKE_PRODUCER);
  self->wake_consumer = arena_message_steal_fd (message, FD_WAKE_CONSUMER);
  watch_sender (self, message);
  return TRUE;
}

/* A consumer leaves its hello before it gives the descriptor away. */
static gboolean
receive_hello (int                 socket,
               ArenaHelloMessage  *hello,
               ArenaMessage       *message,
               GError            **error)
{
  g_autoptr(GError) local_error = NULL;

  if (arena_socket_receive (socket, hello, sizeof *hello, message, &local_error))
    return TRUE;

  if (g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "No consumer has left a hello on this socket");
  else
    g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

ArenaChannel *
arena_channel_attach (int      socket,
                      int     *data_fd,
                      GError **error)
{
  g_autoptr(ArenaChannel) self = arena_channel_alloc (ARENA_ROLE_PRODUCER);
  g_auto(ArenaMessage) message = { 0 };
  ArenaHelloMessage hello;
  guint uid;

  *data_fd = -1;
  self->peer.socket = socket;
  if (!arena_socket_adopt (socket, error))
    return NULL;

  arena_kill_point (ARENA_KILL_BEFORE_HELLO);
  if (!receive_hello (socket, &hello, &message, error) ||
      !arena_hello_decode (&hello, message.size, &self->geometry, &uid, error))
    return NULL;

  arena_kill_point (ARENA_KILL_AFTER_HELLO);
  if (!adopt_hello (self, &message, error) || !make_producer_page (self, error))
    return NULL;

  if (self->geometry.kind != ARENA_KIND_NONE)
    *data_fd = arena_message_steal_fd (&message, FD_DATA);
  return g_steal_pointer (&self);
}

gboolean
arena_channel_answer (ArenaChannel  *self,
                      GError       **error)
{
  ArenaReplyMessage reply;

  arena_reply_encode (&self->geometry, &reply);
  arena_kill_point (ARENA_KILL_BEFORE_REPLY);
  if (!arena_socket_send (self->peer.socket, &reply, sizeof reply, &self->page_fd, 1, error))
    return FALSE;

  arena_kill_point (ARENA_KILL_AFTER_REPLY);
  clear_fd (&self->page_fd);
  arena_event_signal (self->wake_consumer);
  return TRUE;
}
