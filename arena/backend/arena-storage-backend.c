/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-storage-private.h"

#include "backend/arena-pool-private.h"
#include "backend/arena-ring-private.h"
#include "base/arena-error-private.h"

/* What pools and rings do alike as backends. One that was made without initialising it, as a script may, has no storage,
 * and every call says so. */

ArenaStorage *
arena_backend_peek_storage (ArenaBackend *backend)
{
  if (ARENA_IS_POOL (backend))
    return arena_pool_peek_storage (ARENA_POOL (backend));
  if (ARENA_IS_RING (backend))
    return arena_ring_peek_storage (ARENA_RING (backend));

  return NULL;
}

static ArenaStorage *
get_storage (ArenaBackend *backend,
             GError      **error)
{
  ArenaStorage *storage = arena_backend_peek_storage (backend);

  if (G_UNLIKELY (storage == NULL))
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                 "The %s was not initialised: create it by its constructor, or call init()", G_OBJECT_TYPE_NAME (backend));

  return storage;
}

static ArenaWriter *
open_writer (ArenaBackend *backend,
             GError      **error)
{
  ArenaStorage *storage = get_storage (backend, error);

  return storage != NULL ? arena_storage_open_local_writer (storage, error) : NULL;
}

static ArenaReader *
open_reader (ArenaBackend *backend,
             GError      **error)
{
  ArenaStorage *storage = get_storage (backend, error);

  return storage != NULL ? arena_storage_open_reader (storage, error) : NULL;
}

static gboolean
shut_down (ArenaBackend *backend,
           GError      **error)
{
  ArenaStorage *storage = get_storage (backend, error);

  return storage != NULL && arena_storage_shutdown (storage, error);
}

static gboolean
close_storage (ArenaBackend *backend,
               GError      **error)
{
  ArenaStorage *storage = get_storage (backend, error);

  return storage != NULL && arena_storage_close (storage, error);
}

static gboolean
unlink_storage (ArenaBackend *backend,
                GError      **error)
{
  ArenaStorage *storage = get_storage (backend, error);

  return storage != NULL && arena_storage_unlink (storage, error);
}

static GVariant *
save (ArenaBackend *backend,
      GUnixFDList  *fds,
      GError      **error)
{
  ArenaStorage *storage = get_storage (backend, error);

  return storage != NULL ? arena_storage_save (storage, fds, error) : NULL;
}

void
arena_storage_implement_backend (ArenaBackendInterface *iface)
{
  iface->open_writer = open_writer;
  iface->open_reader = open_reader;
  iface->shutdown = shut_down;
  iface->close = close_storage;
  iface->unlink = unlink_storage;
  iface->save = save;
}
