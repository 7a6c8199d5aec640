/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-reader-private.h"

#include "backend/arena-pool-private.h"
#include "backend/arena-ring-private.h"
#include "backend/arena-vfunc-private.h"
#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"

#include <errno.h>
#include <fcntl.h>

/* Checked wrappers, and the leases that they put over what read() returns: see arena-lease-private.h.
 *
 * A reader has at most one unit open: from its first read() to its end_unit(). All of the state belongs to the thread
 * that reads; only leases travel. Readers of this library release from any thread. A custom one may be written in a
 * language that must not be entered from a foreign thread (GJS blocks for ever), so a view of its units that dies
 * elsewhere leaves the end to the next call that comes in.
 *
 * For a pool this is the hot path: one lease for each unit and one GBytes for each field, no call through the class, and
 * no checked cast, which to an interface costs as much as the rest. */

/**
 * ArenaReader:
 *
 * The consumer's end of an arena: units are read through it.
 *
 * The consumer learns about a unit some other way, such as a boundary's queue: the span that the writer's commit
 * returned, and the offsets and sizes of its fields. Units are read in the order in which they were written; a unit
 * that is skipped counts as given back, and one that isn't wanted is discarded by ending it without a read.
 *
 * What [method@Arena.Reader.read] returns keeps the unit's storage occupied as long as it lives, on whatever thread and
 * through whatever alias, when the reader is zero-copy; else it is an independent copy. After
 * [method@Arena.Reader.end_unit] the storage goes back to the producer when the last view has died.
 *
 * A reader is used by one thread at a time; views may go anywhere. A class that implements it overrides the property
 * `zero-copy` and gets its calls on the thread that entered. Its `end_unit` is called once the last view has died: when
 * that happens on another thread, at the beginning of the next call on the reader.
 *
 * ```c
 * bytes = arena_reader_read (reader, span, offset, size, &error);
 * arena_reader_end_unit (reader, span, NULL);
 * ```
 *
 * Since: 0.1
 */

/**
 * ArenaReaderInterface:
 * @parent_iface: the parent interface
 * @enter_epoch: starts an iteration
 * @read: returns a view or a copy of a part of a unit
 * @end_unit: gives a unit's storage back, once no view of it lives
 *
 * What a reader implements, beside the property `zero-copy`.
 *
 * Every method may be left out. One that fails returns `FALSE` or `NULL` and sets an error.
 *
 * Since: 0.1
 */
G_DEFINE_INTERFACE (ArenaReader, arena_reader, G_TYPE_OBJECT)

static G_DEFINE_QUARK (arena-reader-state, reader_state)

static void
arena_reader_default_init (ArenaReaderInterface *iface)
{
  /**
   * ArenaReader:zero-copy: (getter get_zero_copy)
   *
   * Whether what is read are views of the arena, which keep it occupied, and not copies.
   *
   * Never changes in the life of a reader.
   *
   * Since: 0.1
   */
  g_object_interface_install_property (iface,
                                       g_param_spec_boolean ("zero-copy", NULL, NULL, FALSE,
                                                             G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
free_state (gpointer data)
{
  ArenaReaderState *state = data;

  /* The reader is being finalized: it has nothing left that could be given back. */
  g_clear_pointer (&state->open, arena_lease_forget);
  arena_lease_home_drop (&state->home);
  g_free (state);
}

static gboolean
is_own (ArenaReader *self)
{
  return ARENA_IS_POOL_READER (self) || ARENA_IS_RING_READER (self);
}

/* Takes the property as it is at the first call, and the word of the class for it: it never changes. */
static ArenaReaderState *
attach_state (ArenaReader *self)
{
  ArenaReaderState *state = g_new0 (ArenaReaderState, 1);

  g_object_set_qdata_full (G_OBJECT (self), reader_state_quark (), state, free_state);
  g_object_get (self, "zero-copy", &state->zero_copy, NULL);
  return state;
}

static ArenaReaderState *
get_state (ArenaReader *self)
{
  ArenaReaderState *state;

  if (is_own (self))
    return &((ArenaOwnReader *) self)->state;

  state = g_object_get_qdata (G_OBJECT (self), reader_state_quark ());
  return state != NULL ? state : attach_state (self);
}

/**
 * arena_reader_get_zero_copy: (get-property zero-copy)
 * @self: a reader
 *
 * Gets whether what is read are views of the arena, which keep it occupied, and not copies.
 *
 * May be called from any thread.
 *
 * Returns: `TRUE` for views
 *
 * Since: 0.1
 */
gboolean
arena_reader_get_zero_copy (ArenaReader *self)
{
  gboolean zero_copy = FALSE;

  g_return_val_if_fail (ARENA_IS_READER (self), FALSE);

  g_object_get (self, "zero-copy", &zero_copy, NULL);
  return zero_copy;
}

/**
 * arena_reader_enter_epoch:
 * @self: a reader
 * @epoch: the number of the iteration, at least 1
 * @error: return location for an error, or `NULL`
 *
 * Starts an iteration.
 *
 * Units of an earlier iteration that are still held stay held.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` inside a unit, `ARENA_ERROR_CLOSED`, `ARENA_ERROR_PEER_GONE` where the process that
 * loaded the arena has ended, `ARENA_ERROR_FORKED`, and what a custom reader sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_reader_enter_epoch (ArenaReader *self,
                          guint64      epoch,
                          GError     **error)
{
  ArenaReaderInterface *iface;
  ArenaReaderState *state;
  GError *local_error = NULL;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_READER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  state = get_state (self);
  arena_lease_home_run (&state->home);
  if (state->reading)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                   "Unit %" G_GUINT64_FORMAT " is still open: end it before an iteration starts", state->span);
      return FALSE;
    }

  iface = ARENA_READER_GET_IFACE (self);
  if (iface->enter_epoch == NULL)
    {
      arena_vfunc_set_missing (self, "enter_epoch", error);
      return FALSE;
    }

  success = iface->enter_epoch (self, epoch, &local_error);
  return arena_vfunc_end (self, "enter_epoch", success, local_error, error);
}

/* The class's own end, for the last view of a custom reader's unit. */
static gboolean
end_custom (ArenaReader *self,
            guint64      span,
            GError     **error)
{
  ArenaReaderInterface *iface = ARENA_READER_GET_IFACE (self);
  GError *local_error = NULL;
  gboolean success;

  if (iface->end_unit == NULL)
    {
      arena_vfunc_set_missing (self, "end_unit", error);
      return FALSE;
    }

  success = iface->end_unit (self, span, &local_error);
  return arena_vfunc_end (self, "end_unit", success, local_error, error);
}

/* The first word about a unit. Readers of this library check it; a custom one has its own idea of spans, but for one
 * thing: what has ended can't be ended again. */
static gboolean
open_unit (ArenaReader      *self,
           ArenaReaderState *state,
           guint64           span,
           GError          **error)
{
  ArenaLeaseHome *home = NULL;
  ArenaLeaseEnd end = NULL;
  guint64 leased = span;

  if (ARENA_IS_POOL_READER (self))
    {
      if (!arena_pool_reader_receive ((ArenaPoolReader *) self, span, &leased, error))
        return FALSE;
      end = arena_pool_reader_release;
    }
  else if (ARENA_IS_RING_READER (self))
    {
      if (!arena_ring_reader_receive (ARENA_RING_READER (self), span, error))
        return FALSE;
    }
  else if (state->ended && state->last_span == span)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Unit %" G_GUINT64_FORMAT " was ended already", span);
      return FALSE;
    }
  else if (state->zero_copy)
    {
      home = &state->home;
      end = end_custom;
    }

  if (end != NULL)
    state->open = arena_lease_new (self, leased, end, home);
  state->span = span;
  state->reading = TRUE;
  return TRUE;
}

static gboolean
ensure_unit (ArenaReader      *self,
             ArenaReaderState *state,
             guint64           span,
             GError          **error)
{
  if (!state->reading)
    return open_unit (self, state, span, error);
  if (state->span == span)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
               "Unit %" G_GUINT64_FORMAT " is still open: end it before unit %" G_GUINT64_FORMAT, state->span, span);
  return FALSE;
}

static GBytes *
read_pool (ArenaPoolReader  *self,
           ArenaReaderState *state,
           guint64           span,
           guint64           offset,
           gsize             size,
           GError          **error)
{
  gconstpointer data;

  if (!arena_channel_check_open (((ArenaOwnReader *) self)->channel, error) ||
      !ensure_unit ((ArenaReader *) self, state, span, error))
    return NULL;

  /* Nothing to keep occupied. */
  if (size == 0)
    return g_bytes_new (NULL, 0);

  data = arena_pool_reader_locate (self, offset, size, error);
  return data != NULL ? arena_lease_view (state->open, data, size) : NULL;
}

static GBytes *
read_class (ArenaReader      *self,
            ArenaReaderState *state,
            guint64           span,
            guint64           offset,
            gsize             size,
            GError          **error)
{
  ArenaReaderInterface *iface = ARENA_READER_GET_IFACE (self);
  g_autoptr (GBytes) bytes = NULL;
  GError *local_error = NULL;

  if (iface->read == NULL)
    {
      arena_vfunc_set_missing (self, "read", error);
      return NULL;
    }

  if (is_own (self) && !arena_channel_check_open (((ArenaOwnReader *) self)->channel, error))
    return NULL;
  if (!ensure_unit (self, state, span, error))
    return NULL;

  bytes = iface->read (self, span, offset, size, &local_error);
  if (!arena_vfunc_end (self, "read", bytes != NULL, local_error, error))
    return NULL;

  if (g_bytes_get_size (bytes) != size)
    {
      arena_vfunc_set_broken (self, "read", "returned another size than asked for", error);
      return NULL;
    }

  return state->open != NULL ? arena_lease_wrap (state->open, g_steal_pointer (&bytes)) : g_steal_pointer (&bytes);
}

/**
 * arena_reader_read:
 * @self: a reader
 * @span: what the writer's commit returned for the unit
 * @offset: where the wanted bytes begin in the arena
 * @size: how many there are
 * @error: return location for an error, or `NULL`
 *
 * Reads a part of a unit.
 *
 * The first read of a unit opens it, and it has to be ended by [method@Arena.Reader.end_unit] even when this fails. A
 * zero-copy reader returns a view, at the cost of two small allocations; any other a copy of its own, which doesn't
 * keep the arena occupied. Reading a unit skips, and gives back, earlier ones that were never read.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` while another unit is open or before a producer is there,
 * `ARENA_ERROR_PROTOCOL` for a span or range that no correct producer can have sent, `ARENA_ERROR_NO_SPACE` where
 * memory for a copy is short, `ARENA_ERROR_CLOSED`, `ARENA_ERROR_FORKED`, and what a custom reader sets.
 *
 * Returns: (transfer full): the bytes, or `NULL` with @error set
 *
 * Since: 0.1
 */
GBytes *
arena_reader_read (ArenaReader *self,
                   guint64      span,
                   guint64      offset,
                   gsize        size,
                   GError     **error)
{
  ArenaReaderState *state;

  if (G_LIKELY (ARENA_IS_POOL_READER (self)))
    return read_pool ((ArenaPoolReader *) self, &((ArenaOwnReader *) self)->state, span, offset, size, error);

  g_return_val_if_fail (ARENA_IS_READER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  state = get_state (self);
  arena_lease_home_run (&state->home);
  return read_class (self, state, span, offset, size, error);
}

static gboolean
end_open_unit (ArenaReader      *self,
               ArenaReaderState *state,
               GError          **error)
{
  ArenaLease *lease = g_steal_pointer (&state->open);

  state->reading = FALSE;
  state->ended = TRUE;
  state->last_span = state->span;
  if (lease != NULL)
    return arena_lease_close (lease, error);

  return end_custom (self, state->span, error);
}

/**
 * arena_reader_end_unit:
 * @self: a reader
 * @span: what the writer's commit returned for the unit
 * @error: return location for an error, or `NULL`
 *
 * Ends the reading of a unit.
 *
 * Its storage goes back to the producer at once, or when the last view of it has died. A unit that was never read goes
 * back as well. An open unit can be ended after the arena was closed.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` while another unit is open or when this one was ended already,
 * `ARENA_ERROR_PROTOCOL` for a span that no correct producer can have sent, `ARENA_ERROR_CLOSED`,
 * `ARENA_ERROR_FORKED`, and what a custom reader sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_reader_end_unit (ArenaReader *self,
                       guint64      span,
                       GError     **error)
{
  ArenaReaderState *state;

  g_return_val_if_fail (ARENA_IS_POOL_READER (self) || ARENA_IS_READER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  state = get_state (self);
  arena_lease_home_run (&state->home);

  if (!state->reading)
    {
      if (state->ended && state->last_span == span)
        {
          g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                       "Unit %" G_GUINT64_FORMAT " was ended already", span);
          return FALSE;
        }
      if (is_own (self) && !arena_channel_check_open (((ArenaOwnReader *) self)->channel, error))
        return FALSE;
    }

  return ensure_unit (self, state, span, error) && end_open_unit (self, state, error);
}

static void
set_data (ArenaOwnReader *self,
          ArenaMapping   *data)
{
  self->data = data;
  self->base = arena_mapping_get_data (data);
}

gboolean
arena_own_reader_open (ArenaOwnReader  *self,
                       ArenaStorage    *storage,
                       GError         **error)
{
  self->storage = arena_storage_ref (storage);
  self->channel = storage->channel;
  self->data_fd = -1;
  if (storage->data != NULL)
    {
      set_data (self, arena_mapping_ref (storage->data));
      return TRUE;
    }

  /* A descriptor of its own: unlink() closes the storage's. */
  self->data_fd = fcntl (storage->data_fd, F_DUPFD_CLOEXEC, 0);
  if (self->data_fd >= 0)
    return TRUE;

  arena_set_error_errno (error, ARENA_ERROR_CLOSED, errno, "fcntl(F_DUPFD_CLOEXEC)", "arena's data file");
  return FALSE;
}

gboolean
arena_own_reader_map (ArenaOwnReader  *self,
                      GError         **error)
{
  ArenaMapping *data;

  if (G_LIKELY (self->base != NULL))
    return TRUE;

  data = arena_storage_map_sealed (self->storage, self->data_fd, error);
  if (data == NULL)
    return FALSE;

  set_data (self, data);
  g_clear_fd (&self->data_fd, NULL);
  return TRUE;
}

void
arena_own_reader_stop (ArenaOwnReader *self)
{
  if (self->state.reading)
    end_open_unit (ARENA_READER (self), &self->state, NULL);
}

void
arena_own_reader_clear (ArenaOwnReader *self)
{
  if (self->storage != NULL)
    g_clear_fd (&self->data_fd, NULL);
  g_clear_pointer (&self->data, arena_mapping_unref);
  g_clear_pointer (&self->storage, arena_storage_unref);
}

gboolean
arena_own_reader_attach (ArenaOwnReader *self,
                         GError        **error)
{
  g_autoptr (GError) local_error = NULL;

  if (G_LIKELY (self->channel->cp != NULL))
    return TRUE;
  if (self->channel->peer.socket >= 0 && arena_channel_accept (self->channel, &local_error))
    return TRUE;

  if (local_error == NULL || g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "No producer is attached to this arena");
  else
    g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

gboolean
arena_own_reader_enter_epoch (ArenaOwnReader *self,
                              GError        **error)
{
  if (!arena_channel_check_open (self->channel, error))
    return FALSE;
  if (self->channel->geometry.queue_size != 0)
    return TRUE;

  arena_peer_look (&self->channel->peer);
  return arena_channel_check_consumer (self->channel, error);
}
