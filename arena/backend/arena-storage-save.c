/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-storage-private.h"

#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An arena for a writer in another process, without a boundary. What is saved is no copy of anything but one end of the
 * arena's socket, in which the hello waits, and the saver's pidfd: so both processes do the same handshake as those of
 * a boundary and see each other die. The state is a dictionary, so that it can grow; its handles are indices of the
 * list. */

/* -1 where the kernel has none: then only the socket tells. */
static int
open_own_pidfd (void)
{
  return (int) syscall (SYS_pidfd_open, getpid (), 0);
}

GVariant *
arena_storage_save (ArenaStorage  *self,
                    GUnixFDList   *fds,
                    GError       **error)
{
  int socket = arena_storage_invite (self, fds, error);
  GVariantDict dict;
  gboolean ring;
  int pidfd;
  int index;

  if (socket < 0)
    return NULL;

  ring = self->channel->geometry.kind == ARENA_KIND_RING; /* the channel is constant from here on */
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "kind", "s", ring ? "ring" : "pool");
  g_variant_dict_insert (&dict, "socket", "h", socket);

  pidfd = open_own_pidfd ();
  index = pidfd >= 0 ? g_unix_fd_list_append (fds, pidfd, NULL) : -1;
  if (index >= 0)
    g_variant_dict_insert (&dict, "pidfd", "h", index);
  if (pidfd >= 0)
    close (pidfd);
  return g_variant_dict_end (&dict);
}

static gboolean
refuse (GError     **error,
        const char  *what)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "The saved state %s", what);
  return FALSE;
}

/* A duplicate of the descriptor @key; -1 where there is none. */
static int
get_fd (GVariantDict *dict,
        const char   *key,
        GUnixFDList  *fds)
{
  gint32 index;

  if (!g_variant_dict_lookup (dict, key, "h", &index) || index < 0 || index >= g_unix_fd_list_get_length (fds))
    return -1;

  return g_unix_fd_list_get (fds, index, NULL);
}

static int
take_socket (GVariant     *state,
             GUnixFDList  *fds,
             const char   *kind,
             int          *pidfd,
             GError      **error)
{
  g_autofree char *saved_kind = NULL;
  GVariantDict dict;
  int socket = -1;

  *pidfd = -1;
  if (!g_variant_is_of_type (state, G_VARIANT_TYPE_VARDICT))
    {
      refuse (error, "is not a dictionary");
      return -1;
    }

  g_variant_dict_init (&dict, state);
  if (!g_variant_dict_lookup (&dict, "kind", "s", &saved_kind) || strcmp (saved_kind, kind) != 0)
    refuse (error, "is of another kind of arena");
  else if ((socket = get_fd (&dict, "socket", fds)) < 0)
    refuse (error, "names no socket in its list");
  else
    *pidfd = get_fd (&dict, "pidfd", fds);
  g_variant_dict_clear (&dict);
  return socket;
}

/* Over an attached channel; tells the saver once everything is mapped. */
static ArenaStorage *
attach_storage (ArenaChannel  *channel,
                ArenaKind      kind,
                int            data_fd,
                GError       **error)
{
  g_autoptr (ArenaStorage) self = NULL;
  g_autofd int fd = data_fd;

  if (channel->geometry.kind != kind || channel->geometry.queue_size != 0)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                           "The hello describes another kind of arena, or one that belongs to a boundary");
      return NULL;
    }

  self = arena_storage_new_attached (channel, g_steal_fd (&fd), error);
  return self != NULL && arena_channel_answer (channel, error) ? g_steal_pointer (&self) : NULL;
}

ArenaStorage *
arena_storage_load (ArenaKind     kind,
                    GVariant     *state,
                    GUnixFDList  *fds,
                    GError      **error)
{
  g_autoptr (ArenaChannel) channel = NULL;
  g_autofd int pidfd = -1;
  int socket = take_socket (state, fds, kind == ARENA_KIND_RING ? "ring" : "pool", &pidfd, error);
  int data_fd;

  if (socket < 0)
    return NULL;

  channel = arena_channel_attach (socket, &data_fd, error);
  if (channel == NULL)
    return NULL;

  if (arena_peer_is_pidfd (pidfd))
    arena_peer_take_pidfd (&channel->peer, g_steal_fd (&pidfd), TRUE);
  return attach_storage (channel, kind, data_fd, error);
}
