/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-storage-private.h"

#include "backend/arena-pool-private.h"
#include "backend/arena-reader-private.h"
#include "backend/arena-ring-private.h"
#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "memory/arena-fork-private.h"
#include "memory/arena-memfd-private.h"
#include "sync/arena-event-private.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* An arena nobody has opened is inert: it goes through fork() and may then be opened once, in any process. Opening
 * claims it: a process-private note of the fork generation, backed by a seal on the data file (F_SEAL_SEAL can be added
 * once, and the file is what all copies of the object share). A read-only arena's producer needs that seal for itself, so
 * there the copies share an event, signalled once, that one of them can empty. Control pages don't go through fork(), so
 * a process that claims an arena which it inherited makes a channel of its own.
 *
 * From the claim on, the channel is constant and may be used without the lock; in a child forked later every entry is
 * FORKED before it could touch the lock. So is one that nobody has opened where another thread was inside at the fork: it
 * never comes out of it in the child.
 *
 * close() drops one reference on the mapping, the backend's own. Endpoints hold theirs, leases hold endpoints: the
 * memory goes when the last of them does, and no view ever loses it before.
 *
 * A read-only arena's creator maps nothing until the producer has mapped the data writable and sealed it against anybody
 * else who would: a mapping made before the seal could be made writable again. */

/* What the producer of a read-only arena adds: nobody maps it writable from here on. */
#define LAST_SEALS (F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)

static gboolean
is_closed (ArenaStorage *self)
{
  return (atomic_load_explicit (&self->channel->local_state, memory_order_seq_cst) & ARENA_STATE_CLOSED) != 0;
}

static ArenaMappingFlags
mapping_flags (const ArenaGeometry *geometry)
{
  return geometry->kind == ARENA_KIND_RING ? ARENA_MAPPING_WRITABLE | ARENA_MAPPING_TWICE : ARENA_MAPPING_WRITABLE;
}

static ArenaStorage *
storage_alloc (void)
{
  ArenaStorage *self = g_new0 (ArenaStorage, 1);

  g_atomic_ref_count_init (&self->ref_count);
  arena_fork_mutex_init (&self->mutex);
  self->data_fd = -1;
  self->claim_fd = -1;
  return self;
}

/* What makes the creator's memory: a mapping, or what else is needed as long as it must not have one. */
static gboolean
set_up_data (ArenaStorage         *self,
             const ArenaGeometry  *geometry,
             GError              **error)
{
  if (geometry->read_only)
    {
      self->claim_fd = arena_event_new (error);
      if (self->claim_fd < 0)
        return FALSE;

      arena_event_signal (self->claim_fd);
      return TRUE;
    }

  self->data = arena_mapping_new (self->data_fd, (gsize) geometry->data_size, mapping_flags (geometry), error);
  return self->data != NULL;
}

ArenaStorage *
arena_storage_new (const ArenaGeometry  *geometry,
                   const char           *label,
                   GCancellable         *cancellable,
                   GError              **error)
{
  g_autofree char *name = arena_memfd_name (label, geometry->kind == ARENA_KIND_RING ? "ring" : "pool");
  g_autoptr (ArenaStorage) self = storage_alloc ();

  self->data_fd = arena_memfd_new (name, geometry->data_size, cancellable, error);
  if (self->data_fd < 0 || !set_up_data (self, geometry, error))
    return NULL;

  self->channel = arena_channel_new (geometry, error);
  if (self->channel == NULL)
    return NULL;

  return g_steal_pointer (&self);
}

ArenaStorage *
arena_storage_new_attached (ArenaChannel  *channel,
                            int            data_fd,
                            GError       **error)
{
  const ArenaGeometry *geometry = &channel->geometry;
  g_autoptr (ArenaStorage) self = storage_alloc ();
  g_autofd int fd = data_fd;

  self->channel = arena_channel_ref (channel);
  atomic_init (&self->claimed, channel->fork_generation);
  self->data = arena_mapping_new (fd, (gsize) geometry->data_size, mapping_flags (geometry), error);
  if (self->data == NULL || !arena_mapping_populate (self->data, error))
    return NULL;
  if (geometry->read_only && !arena_memfd_seal (fd, LAST_SEALS, error))
    return NULL;

  return g_steal_pointer (&self);
}

ArenaMapping *
arena_storage_map_sealed (ArenaStorage  *self,
                          int            fd,
                          GError       **error)
{
  const ArenaGeometry *geometry = &self->channel->geometry;
  ArenaMapping *mapping;

  if (!arena_memfd_check (fd, geometry->data_size, LAST_SEALS, "read-only arena's data file", error))
    return NULL;

  mapping = arena_mapping_new (fd, (gsize) geometry->data_size, ARENA_MAPPING_READ_ONLY, error);
  if (mapping == NULL)
    return NULL;

  if (self->pin_memory && !arena_storage_pin (self, mapping, error))
    {
      arena_mapping_unref (mapping);
      return NULL;
    }

  /* For statistics. */
  if (arena_fork_mutex_lock (&self->mutex))
    {
      if (self->data == NULL && !is_closed (self))
        self->data = arena_mapping_ref (mapping);
      arena_fork_mutex_unlock (&self->mutex);
    }
  return mapping;
}

ArenaStorage *
arena_storage_ref (ArenaStorage *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
arena_storage_unref (ArenaStorage *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_clear_pointer (&self->channel, arena_channel_unref);
  g_clear_pointer (&self->data, arena_mapping_unref);
  g_clear_pointer (&self->pinned, arena_mapping_unref);
  g_clear_pointer (&self->outputs, arena_outputs_unref);
  g_clear_fd (&self->data_fd, NULL);
  g_clear_fd (&self->claim_fd, NULL);
  arena_fork_mutex_clear (&self->mutex);
  g_free (self);
}

/* FORKED where another process has the arena; without the lock. */
static gboolean
check_owner (ArenaStorage  *self,
             GError       **error)
{
  guint claimed = atomic_load_explicit (&self->claimed, memory_order_acquire);

  return claimed == 0 || arena_fork_is_current (claimed) || arena_channel_check_fork (self->channel, error);
}

/* Locked: replaces a channel that a fork has left behind in the parent. What was decided there stays decided. */
static gboolean
renew_channel (ArenaStorage  *self,
               GError       **error)
{
  ArenaChannel *channel;
  guint state;

  if (arena_fork_is_current (self->channel->fork_generation))
    return TRUE;

  channel = arena_channel_new (&self->channel->geometry, error);
  if (channel == NULL)
    return FALSE;

  state = atomic_load_explicit (&self->channel->local_state, memory_order_relaxed);
  arena_channel_unref (self->channel);
  self->channel = channel;
  if (state != 0)
    arena_channel_set_state (channel, state);
  return TRUE;
}

gboolean
arena_storage_lock (ArenaStorage  *self,
                    GError       **error)
{
  if (arena_fork_mutex_lock (&self->mutex))
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_FORKED,
                       "Another thread used this arena at fork(), so it belongs to the parent process; create one here");
  return FALSE;
}

/* Locks for a call that changes something, in a process that may do so. */
static gboolean
enter (ArenaStorage  *self,
       GError       **error)
{
  if (!check_owner (self, error) || !arena_storage_lock (self, error))
    return FALSE;

  if (renew_channel (self, error))
    return TRUE;

  arena_fork_mutex_unlock (&self->mutex);
  return FALSE;
}

static gboolean
set_state (ArenaStorage  *self,
           guint          state,
           GError       **error)
{
  ArenaMapping *data = NULL;

  if (!enter (self, error))
    return FALSE;

  if ((atomic_load_explicit (&self->channel->local_state, memory_order_seq_cst) & state) == 0 && !is_closed (self))
    arena_channel_set_state (self->channel, state);
  if (state == ARENA_STATE_CLOSED)
    data = g_steal_pointer (&self->data);
  arena_fork_mutex_unlock (&self->mutex);

  g_clear_pointer (&data, arena_mapping_unref);
  return TRUE;
}

gboolean
arena_storage_shutdown (ArenaStorage  *self,
                        GError       **error)
{
  return set_state (self, ARENA_STATE_SHUTDOWN, error);
}

gboolean
arena_storage_close (ArenaStorage  *self,
                     GError       **error)
{
  return set_state (self, ARENA_STATE_CLOSED, error) && arena_storage_unpin (self, error);
}

void
arena_storage_abandon (ArenaStorage *self)
{
  set_state (self, ARENA_STATE_CLOSED, NULL);
}

gboolean
arena_storage_unlink (ArenaStorage  *self,
                      GError       **error)
{
  if (!enter (self, error))
    return FALSE;

  g_clear_fd (&self->data_fd, NULL);
  arena_fork_mutex_unlock (&self->mutex);
  return TRUE;
}

/* TRUE for one of all processes that have a copy of this object, and once. */
static gboolean
take_claim (ArenaStorage *self)
{
  if (self->claim_fd < 0)
    return fcntl (self->data_fd, F_ADD_SEALS, F_SEAL_SEAL) == 0;
  if (!arena_event_take (self->claim_fd))
    return FALSE;

  g_clear_fd (&self->claim_fd, NULL);
  return TRUE;
}

/* Locked. */
static gboolean
claim_locked (ArenaStorage  *self,
              GError       **error)
{
  if (is_closed (self))
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "This process closed the arena");
      return FALSE;
    }

  if (atomic_load_explicit (&self->claimed, memory_order_relaxed) != 0)
    return TRUE;

  if (self->data_fd < 0)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "The arena was unlinked before it was opened");
      return FALSE;
    }

  if (!take_claim (self))
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_FORKED,
                           "After a fork() another process opened this arena first; create one here");
      return FALSE;
    }

  atomic_store_explicit (&self->claimed, arena_fork_generation (), memory_order_release);
  return TRUE;
}

/* Locked; for a caller that is about to hold the mapping. */
static gboolean
take_once (ArenaStorage   *self,
           _Atomic guint  *opened,
           const char     *end,
           GError        **error)
{
  if (!claim_locked (self, error))
    return FALSE;

  if (atomic_exchange_explicit (opened, 1, memory_order_relaxed) == 0)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
               "This arena had a %s already and serves one in its life; create a new arena", end);
  return FALSE;
}

/* Locked. */
static int
invite_locked (ArenaStorage  *self,
               GUnixFDList   *fds,
               GError       **error)
{
  int index;

  if (self->channel->role != ARENA_ROLE_CONSUMER)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
                           "This arena was loaded: only the process that created it can save it");
      return -1;
    }

  if (!claim_locked (self, error))
    return -1;

  if (self->data_fd < 0)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "The arena was unlinked: it can't be saved any more");
      return -1;
    }

  if (!arena_channel_invite (self->channel, self->data_fd, error))
    return -1;

  index = g_unix_fd_list_append (fds, self->channel->remote_socket, NULL);
  if (index < 0)
    {
      arena_channel_uninvite (self->channel);
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "No file descriptor is left to save the arena");
      return -1;
    }

  /* The list has a duplicate; were this one kept, the writer's death would not hang up. */
  close (arena_channel_steal_remote (self->channel, NULL));
  return index;
}

int
arena_storage_invite (ArenaStorage  *self,
                      GUnixFDList   *fds,
                      GError       **error)
{
  int index;

  if (!enter (self, error))
    return -1;

  index = invite_locked (self, fds, error);
  arena_fork_mutex_unlock (&self->mutex);
  return index;
}

static ArenaWriter *
make_writer (ArenaStorage *self)
{
  return self->channel->geometry.kind == ARENA_KIND_RING ? arena_ring_writer_new (self) : arena_pool_writer_new (self);
}

ArenaWriter *
arena_storage_open_local_writer (ArenaStorage  *self,
                                 GError       **error)
{
  ArenaWriter *writer = NULL;

  if (self->channel->geometry.read_only)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
                           "This process never writes to a read-only arena: only another one's producer does");
      return NULL;
    }

  if (!enter (self, error))
    return NULL;

  if (take_once (self, &self->writer_opened, "writer", error))
    {
      if (self->channel->role == ARENA_ROLE_PRODUCER || arena_channel_attach_local (self->channel, error))
        writer = make_writer (self);
      else
        atomic_store_explicit (&self->writer_opened, 0, memory_order_relaxed);
    }

  arena_fork_mutex_unlock (&self->mutex);
  return writer;
}

ArenaWriter *
arena_storage_open_writer (ArenaStorage  *self,
                           GError       **error)
{
  ArenaWriter *writer = NULL;

  if (!enter (self, error))
    return NULL;

  if (take_once (self, &self->writer_opened, "writer", error))
    writer = make_writer (self);

  arena_fork_mutex_unlock (&self->mutex);
  return writer;
}

ArenaReader *
arena_storage_open_reader (ArenaStorage  *self,
                           GError       **error)
{
  ArenaReader *reader = NULL;

  if (!enter (self, error))
    return NULL;

  if (self->channel->role == ARENA_ROLE_PRODUCER)
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
                         "This arena was loaded: its reader is in the process that created it");
  else if (take_once (self, &self->reader_opened, "reader", error))
    {
      reader = self->channel->geometry.kind == ARENA_KIND_RING ? arena_ring_reader_new (self, error)
                                                               : arena_pool_reader_new (self, error);
      if (reader == NULL)
        arena_storage_forget_reader (self);
    }

  arena_fork_mutex_unlock (&self->mutex);

  if (reader != NULL && !arena_storage_prepare_reader (self, ((ArenaOwnReader *) reader)->data, error))
    {
      g_clear_object (&reader);
      arena_storage_forget_reader (self);
    }
  return reader;
}

void
arena_storage_forget_reader (ArenaStorage *self)
{
  atomic_store_explicit (&self->reader_opened, 0, memory_order_relaxed);
}
