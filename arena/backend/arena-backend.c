/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-backend.h"

#include "backend/arena-reader.h"
#include "backend/arena-vfunc-private.h"
#include "backend/arena-writer.h"

/* Checked wrappers, nothing else: no state, no lock. Whatever a class does wrong becomes a GError of the caller. */

/**
 * ArenaBackend:
 *
 * An arena: preallocated storage for units, and its rules.
 *
 * A backend hands out one [iface@Arena.Writer], which a producer fills units through, and one [iface@Arena.Reader],
 * which a consumer reads them through. [class@Arena.Pool] and [class@Arena.Ring] are the backends of this library; a
 * class in any language may be another. It implements what it needs: a method that it leaves out fails as
 * `ARENA_ERROR_NOT_SUPPORTED`, and one that fails without setting an error as `ARENA_ERROR_BACKEND`.
 *
 * An arena ends in three steps, each idempotent and possible in any order and from any thread. None of them ends a
 * live view.
 *
 * - [method@Arena.Backend.shutdown] ends waits, on either side.
 * - [method@Arena.Backend.close] ends this process's use of the arena.
 * - [method@Arena.Backend.unlink] forgets the file behind it.
 *
 * ```c
 * g_autoptr (ArenaPool) pool = arena_pool_new (4 << 20, 4, &error);
 * g_autoptr (ArenaReader) reader = arena_backend_open_reader (ARENA_BACKEND (pool), &error);
 * ```
 *
 * Since: 0.1
 */

/**
 * ArenaBackendInterface:
 * @parent_iface: the parent interface
 * @open_writer: opens the producer's end
 * @open_reader: opens the consumer's end
 * @shutdown: ends waits
 * @close: ends this process's use
 * @unlink: forgets the file
 * @save: describes the arena for another process
 * @load: becomes the arena that another process described
 *
 * What a backend implements.
 *
 * Every method may be left out. One that fails returns `FALSE` or `NULL` and sets an error.
 *
 * Since: 0.1
 */
G_DEFINE_INTERFACE (ArenaBackend, arena_backend, G_TYPE_OBJECT)

static void
arena_backend_default_init (ArenaBackendInterface *iface)
{
}

/* A binding may hand back any object at all. */
static gpointer
check_opened (ArenaBackend *self,
              const char   *method,
              gpointer      object,
              GType         type,
              GError       *local_error,
              GError      **error)
{
  if (!arena_vfunc_end (self, method, object != NULL, local_error, error))
    {
      g_clear_object (&object);
      return NULL;
    }

  if (G_LIKELY (G_TYPE_CHECK_INSTANCE_TYPE (object, type)))
    return object;

  arena_vfunc_set_broken (self, method, "returned an object of the wrong type", error);
  g_object_unref (object);
  return NULL;
}

/**
 * arena_backend_open_writer:
 * @self: a backend
 * @error: return location for an error, or `NULL`
 *
 * Opens the producer's end of the arena in this process.
 *
 * An arena serves one producer in its life. To have it in another process, give the arena to a consumer instead.
 * The writer keeps the storage alive and may outlive the backend object.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_NOT_SUPPORTED` the second time, `ARENA_ERROR_CLOSED`,
 * `ARENA_ERROR_INVALID_STATE` before the object was initialised, `ARENA_ERROR_NO_SPACE`, `ARENA_ERROR_FORKED`, and
 * what the backend sets.
 *
 * Returns: (transfer full): the writer, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaWriter *
arena_backend_open_writer (ArenaBackend *self,
                           GError      **error)
{
  ArenaBackendInterface *iface;
  GError *local_error = NULL;
  ArenaWriter *writer;

  g_return_val_if_fail (ARENA_IS_BACKEND (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  iface = ARENA_BACKEND_GET_IFACE (self);
  if (iface->open_writer == NULL)
    {
      arena_vfunc_set_missing (self, "open_writer", error);
      return NULL;
    }

  writer = iface->open_writer (self, &local_error);
  return check_opened (self, "open_writer", writer, ARENA_TYPE_WRITER, local_error, error);
}

/**
 * arena_backend_open_reader:
 * @self: a backend
 * @error: return location for an error, or `NULL`
 *
 * Opens the consumer's end of the arena in this process.
 *
 * An arena has one consumer in its life. The reader keeps the storage alive and may outlive the backend object.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_NOT_SUPPORTED` the second time, `ARENA_ERROR_CLOSED`,
 * `ARENA_ERROR_INVALID_STATE` before the object was initialised, `ARENA_ERROR_NO_SPACE`, `ARENA_ERROR_FORKED`, and
 * what the backend sets.
 *
 * Returns: (transfer full): the reader, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaReader *
arena_backend_open_reader (ArenaBackend *self,
                           GError      **error)
{
  ArenaBackendInterface *iface;
  GError *local_error = NULL;
  ArenaReader *reader;

  g_return_val_if_fail (ARENA_IS_BACKEND (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  iface = ARENA_BACKEND_GET_IFACE (self);
  if (iface->open_reader == NULL)
    {
      arena_vfunc_set_missing (self, "open_reader", error);
      return NULL;
    }

  reader = iface->open_reader (self, &local_error);
  return check_opened (self, "open_reader", reader, ARENA_TYPE_READER, local_error, error);
}

static gboolean
call_simple (ArenaBackend *self,
             const char   *method,
             gboolean    (*vfunc) (ArenaBackend *, GError **),
             GError      **error)
{
  GError *local_error = NULL;
  gboolean success;

  if (vfunc == NULL)
    {
      arena_vfunc_set_missing (self, method, error);
      return FALSE;
    }

  success = vfunc (self, &local_error);
  return arena_vfunc_end (self, method, success, local_error, error);
}

/**
 * arena_backend_shutdown:
 * @self: a backend
 * @error: return location for an error, or `NULL`
 *
 * Ends every wait for the arena's storage, in both processes, for good.
 *
 * A producer that waits for room, or would have to, gets `ARENA_ERROR_CLOSED` at once and can leave. What has been
 * received stays readable, and views stay valid. Call this before you wait for a producer to end, which may itself be
 * waiting for room. Calling it again, or after [method@Arena.Backend.close], does nothing.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_STATE` before the object was initialised,
 * `ARENA_ERROR_FORKED`, and what the backend sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_backend_shutdown (ArenaBackend *self,
                        GError      **error)
{
  g_return_val_if_fail (ARENA_IS_BACKEND (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return call_simple (self, "shutdown", ARENA_BACKEND_GET_IFACE (self)->shutdown, error);
}

/**
 * arena_backend_close:
 * @self: a backend
 * @error: return location for an error, or `NULL`
 *
 * Ends this process's use of the arena.
 *
 * From here on every call on the arena and its ends is `ARENA_ERROR_CLOSED`. Live views stay valid: the memory goes
 * back to the system when the last view and the last open end are gone. Calling it again does nothing.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_STATE` before the object was initialised,
 * `ARENA_ERROR_FORKED`, and what the backend sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_backend_close (ArenaBackend *self,
                     GError      **error)
{
  g_return_val_if_fail (ARENA_IS_BACKEND (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return call_simple (self, "close", ARENA_BACKEND_GET_IFACE (self)->close, error);
}

/**
 * arena_backend_unlink:
 * @self: a backend
 * @error: return location for an error, or `NULL`
 *
 * Forgets the file behind the arena, so that no further process can get at it.
 *
 * An arena of this library has no name anywhere, so there is nothing to remove; this closes one file descriptor.
 * Ends that are open go on working, and views stay valid. Calling it again does nothing.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_STATE` before the object was initialised,
 * `ARENA_ERROR_FORKED`, and what the backend sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_backend_unlink (ArenaBackend *self,
                      GError      **error)
{
  g_return_val_if_fail (ARENA_IS_BACKEND (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return call_simple (self, "unlink", ARENA_BACKEND_GET_IFACE (self)->unlink, error);
}

/**
 * arena_backend_save:
 * @self: a backend
 * @fds: a list that file descriptors are appended to
 * @error: return location for an error, or `NULL`
 *
 * Describes the arena, so that another process can attach to it as the one that writes.
 *
 * This is for applications with a queue of their own; a boundary needs none of it. The description is meaningful only
 * together with @fds, and for [method@Arena.Backend.load] in one process, once. The list of a pool or a ring gets one
 * end of the arena's socket and a descriptor of this process: send both, then drop the list, for the other process's end
 * shows only once nobody else has that socket.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_NOT_SUPPORTED` where the backend can't be saved or has its
 * producer already, `ARENA_ERROR_CLOSED` after a close or an unlink, `ARENA_ERROR_NO_SPACE` without a file descriptor,
 * `ARENA_ERROR_INVALID_STATE` before the object was initialised, `ARENA_ERROR_FORKED`, and what the backend sets.
 *
 * Returns: (transfer full): the description, or `NULL` with @error set
 *
 * Since: 0.1
 */
GVariant *
arena_backend_save (ArenaBackend *self,
                    GUnixFDList  *fds,
                    GError      **error)
{
  ArenaBackendInterface *iface;
  GError *local_error = NULL;
  GVariant *state;

  g_return_val_if_fail (ARENA_IS_BACKEND (self), NULL);
  g_return_val_if_fail (G_IS_UNIX_FD_LIST (fds), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  iface = ARENA_BACKEND_GET_IFACE (self);
  if (iface->save == NULL)
    {
      arena_vfunc_set_missing (self, "save", error);
      return NULL;
    }

  state = iface->save (self, fds, &local_error);
  if (state != NULL)
    g_variant_take_ref (state);
  if (!arena_vfunc_end (self, "save", state != NULL, local_error, error))
    g_clear_pointer (&state, g_variant_unref);

  return state;
}

/**
 * arena_backend_load:
 * @self: a backend that was created but not opened
 * @state: what [method@Arena.Backend.save] returned
 * @fds: the list that belongs to it
 * @error: return location for an error, or `NULL`
 *
 * Becomes the arena that another process described.
 *
 * A pool or ring to load into is made by `g_object_new()`, without its constructor. The arena is mapped, and the process
 * that saved it learns of it; then [method@Arena.Backend.open_writer] works here. Each sees the other's end: waits for
 * storage fail with `ARENA_ERROR_PEER_GONE`, and so does the reader's next [method@Arena.Reader.enter_epoch].
 *
 * May be called from any thread, once. Errors: `ARENA_ERROR_NOT_SUPPORTED` where the backend can't be loaded,
 * `ARENA_ERROR_INVALID_ARGUMENT` where @state isn't one of this kind of backend with @fds, `ARENA_ERROR_PEER_GONE` where
 * the process that saved it is gone, `ARENA_ERROR_PROTOCOL` where what it left in the socket can't be,
 * `ARENA_ERROR_NO_SPACE`, `ARENA_ERROR_INVALID_STATE` where the object has an arena already, and what the backend
 * sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_backend_load (ArenaBackend *self,
                    GVariant     *state,
                    GUnixFDList  *fds,
                    GError      **error)
{
  ArenaBackendInterface *iface;
  GError *local_error = NULL;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_BACKEND (self), FALSE);
  g_return_val_if_fail (state != NULL, FALSE);
  g_return_val_if_fail (G_IS_UNIX_FD_LIST (fds), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iface = ARENA_BACKEND_GET_IFACE (self);
  if (iface->load == NULL)
    {
      arena_vfunc_set_missing (self, "load", error);
      return FALSE;
    }

  success = iface->load (self, state, fds, &local_error);
  return arena_vfunc_end (self, "load", success, local_error, error);
}
