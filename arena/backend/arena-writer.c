/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-writer.h"

#include "backend/arena-vfunc-private.h"
#include "base/arena-error-private.h"
#include "sync/arena-timing-private.h"

/* Checked wrappers, nothing else: no state, no lock. Out arguments are set before the class is asked, since a binding
 * may leave them untouched when it fails. */

/* Segments and rings start on a page, the smallest of which has this size: more can't be promised. */
#define ALIGNMENT_MAX 4096

/**
 * ArenaWriter:
 *
 * The producer's end of an arena: units are written through it.
 *
 * A unit is begun, written to and committed; anything that goes wrong in between is followed by
 * [method@Arena.Writer.abort_unit], and nothing of it was ever visible. A commit doesn't tell the consumer: the span
 * that it returns and the offsets of the fields have to reach the consumer some other way, which is what a boundary's
 * queue does.
 *
 * A writer is used by one thread at a time. A class that implements it gets its calls on the thread that entered.
 *
 * ```c
 * if (arena_writer_begin_unit (writer, size, -1, NULL, &error) &&
 *     arena_writer_write (writer, bytes, &offset, &error))
 *   arena_writer_commit_unit (writer, &span, &error);
 * ```
 *
 * Since: 0.1
 */

/**
 * ArenaWriterInterface:
 * @parent_iface: the parent interface
 * @start_epoch: starts an iteration
 * @begin_unit: begins a unit
 * @write: copies a field into the open unit
 * @reserve: makes room for a field in the open unit
 * @commit_unit: ends the open unit, which is now complete
 * @abort_unit: gives the open unit up
 *
 * What a writer implements.
 *
 * Every method may be left out. One that fails returns `FALSE` or `NULL` and sets an error.
 *
 * Since: 0.1
 */
G_DEFINE_INTERFACE (ArenaWriter, arena_writer, G_TYPE_OBJECT)

static void
arena_writer_default_init (ArenaWriterInterface *iface)
{
}

/**
 * arena_writer_start_epoch:
 * @self: a writer
 * @epoch: the number of the iteration, at least 1 and never smaller than the last
 * @error: return location for an error, or `NULL`
 *
 * Starts an iteration.
 *
 * When the consumer stops that iteration, waits of this writer end. Storage that the consumer still holds from an
 * earlier iteration stays held.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` inside a unit, `ARENA_ERROR_INVALID_ARGUMENT` for a number that goes back,
 * `ARENA_ERROR_CLOSED`, `ARENA_ERROR_FORKED`, and what a custom writer sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_writer_start_epoch (ArenaWriter *self,
                          guint64      epoch,
                          GError     **error)
{
  ArenaWriterInterface *iface;
  GError *local_error = NULL;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_WRITER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iface = ARENA_WRITER_GET_IFACE (self);
  if (iface->start_epoch == NULL)
    {
      arena_vfunc_set_missing (self, "start_epoch", error);
      return FALSE;
    }

  success = iface->start_epoch (self, epoch, &local_error);
  return arena_vfunc_end (self, "start_epoch", success, local_error, error);
}

/**
 * arena_writer_begin_unit:
 * @self: a writer
 * @expected_size: bytes that will at least be written, or 0 when not known
 * @timeout: how long the unit may wait for storage, in microseconds; -1 as long as the consumer lives, 0 not at all
 * @cancellable: (nullable): a cancellable for the unit's waits
 * @error: return location for an error, or `NULL`
 *
 * Begins a unit, and waits for storage of @expected_size bytes.
 *
 * Later waits of the same unit obey the same deadline and @cancellable. When this fails no unit is open.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` inside a unit, `ARENA_ERROR_INVALID_ARGUMENT` for a timeout below -1,
 * `ARENA_ERROR_TOO_LARGE` at once for a size that never fits, `ARENA_ERROR_BUSY` at once when only this process could
 * free what is needed, `ARENA_ERROR_WOULD_BLOCK`, `ARENA_ERROR_TIMED_OUT`, `G_IO_ERROR_CANCELLED`,
 * `ARENA_ERROR_CLOSED`, `ARENA_ERROR_PEER_GONE`, `ARENA_ERROR_PROTOCOL`, `ARENA_ERROR_FORKED`, and what a custom writer
 * sets.
 *
 * Returns: `TRUE` when a unit is open
 *
 * Since: 0.1
 */
gboolean
arena_writer_begin_unit (ArenaWriter  *self,
                         gsize         expected_size,
                         gint64        timeout,
                         GCancellable *cancellable,
                         GError      **error)
{
  ArenaWriterInterface *iface;
  GError *local_error = NULL;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_WRITER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_timeout_check (timeout, error))
    return FALSE;

  iface = ARENA_WRITER_GET_IFACE (self);
  if (iface->begin_unit == NULL)
    {
      arena_vfunc_set_missing (self, "begin_unit", error);
      return FALSE;
    }

  success = iface->begin_unit (self, expected_size, timeout, cancellable, &local_error);
  return arena_vfunc_end (self, "begin_unit", success, local_error, error);
}

/**
 * arena_writer_write:
 * @self: a writer
 * @data: the field's bytes
 * @offset: (out) (optional): where they lie in the arena, in bytes
 * @error: return location for an error, or `NULL`
 *
 * Copies a field into the open unit.
 *
 * Fields start at multiples of 64 bytes from the unit's start. An empty field uses nothing. Where the unit has no
 * storage for it yet this waits, as [method@Arena.Writer.begin_unit] was told. A failure leaves the unit open and as
 * it was.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` outside a unit, `ARENA_ERROR_TOO_LARGE` at once when the unit can't hold it, and
 * those of [method@Arena.Writer.begin_unit].
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_writer_write (ArenaWriter *self,
                    GBytes      *data,
                    guint64     *offset,
                    GError     **error)
{
  ArenaWriterInterface *iface;
  GError *local_error = NULL;
  guint64 placed = 0;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_WRITER (self), FALSE);
  g_return_val_if_fail (data != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (offset != NULL)
    *offset = 0;

  iface = ARENA_WRITER_GET_IFACE (self);
  if (iface->write == NULL)
    {
      arena_vfunc_set_missing (self, "write", error);
      return FALSE;
    }

  success = iface->write (self, data, &placed, &local_error);
  if (!arena_vfunc_end (self, "write", success, local_error, error))
    return FALSE;

  if (offset != NULL)
    *offset = placed;
  return TRUE;
}

static gboolean
check_alignment (gsize   alignment,
                 GError **error)
{
  if ((alignment & (alignment - 1)) == 0 && alignment <= ALIGNMENT_MAX)
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
               "alignment is %" G_GSIZE_FORMAT ", must be 0 or a power of two up to %d", alignment, ALIGNMENT_MAX);
  return FALSE;
}

static GBytes *
check_reserved (ArenaWriter *self,
                GBytes      *bytes,
                gsize        size,
                GError      *local_error,
                GError     **error)
{
  g_autoptr (GBytes) owned = bytes;

  if (!arena_vfunc_end (self, "reserve", bytes != NULL, local_error, error))
    return NULL;

  if (G_LIKELY (g_bytes_get_size (bytes) == size))
    return g_steal_pointer (&owned);

  arena_vfunc_set_broken (self, "reserve", "returned another size than asked for", error);
  return NULL;
}

/**
 * arena_writer_reserve:
 * @self: a writer
 * @size: bytes of the field
 * @alignment: a power of two up to 4096 that its address must be a multiple of; less than 64 means 64
 * @offset: (out) (optional): where they lie in the arena, in bytes
 * @error: return location for an error, or `NULL`
 *
 * Makes room for a field in the open unit and returns it, to be filled in place.
 *
 * The bytes are the arena's own memory, with whatever an earlier unit left in it. They may be written to until the unit
 * is committed or aborted, by any thread of this process, and not afterwards, when a consumer may be reading them.
 * While the returned object lives, its storage is not handed out again, even after the consumer has given it back: a
 * later unit that needs it gets `ARENA_ERROR_BUSY`.
 *
 * This waits like [method@Arena.Writer.write], and a failure leaves the unit open and as it was.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` for another alignment, and those of [method@Arena.Writer.write].
 *
 * Returns: (transfer full): the writable bytes, or `NULL` with @error set
 *
 * Since: 0.1
 */
GBytes *
arena_writer_reserve (ArenaWriter *self,
                      gsize        size,
                      gsize        alignment,
                      guint64     *offset,
                      GError     **error)
{
  ArenaWriterInterface *iface;
  GError *local_error = NULL;
  guint64 placed = 0;
  GBytes *bytes;

  g_return_val_if_fail (ARENA_IS_WRITER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (offset != NULL)
    *offset = 0;
  if (!check_alignment (alignment, error))
    return NULL;

  iface = ARENA_WRITER_GET_IFACE (self);
  if (iface->reserve == NULL)
    {
      arena_vfunc_set_missing (self, "reserve", error);
      return NULL;
    }

  bytes = iface->reserve (self, size, alignment, &placed, &local_error);
  bytes = check_reserved (self, bytes, size, local_error, error);
  if (bytes != NULL && offset != NULL)
    *offset = placed;

  return bytes;
}

/**
 * arena_writer_commit_unit:
 * @self: a writer
 * @span: (out) (optional): what the consumer names this unit's storage by; 0 for a unit that used none
 * @error: return location for an error, or `NULL`
 *
 * Ends the open unit, which is now complete.
 *
 * This never waits. Bytes that were reserved must not be written to any more.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` outside a unit, `ARENA_ERROR_CLOSED` (the unit stays open, to be aborted),
 * `ARENA_ERROR_FORKED`, and what a custom writer sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_writer_commit_unit (ArenaWriter *self,
                          guint64     *span,
                          GError     **error)
{
  ArenaWriterInterface *iface;
  GError *local_error = NULL;
  guint64 committed = 0;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_WRITER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (span != NULL)
    *span = 0;

  iface = ARENA_WRITER_GET_IFACE (self);
  if (iface->commit_unit == NULL)
    {
      arena_vfunc_set_missing (self, "commit_unit", error);
      return FALSE;
    }

  success = iface->commit_unit (self, &committed, &local_error);
  if (!arena_vfunc_end (self, "commit_unit", success, local_error, error))
    return FALSE;

  if (span != NULL)
    *span = committed;
  return TRUE;
}

/**
 * arena_writer_abort_unit:
 * @self: a writer
 * @error: return location for an error, or `NULL`
 *
 * Gives the open unit up: its storage is used for the next one.
 *
 * Bytes that were reserved must not be written to any more, and as long as one of them lives the storage can't be used
 * again. Without an open unit this does nothing, and it works after the arena was closed: it is what every failure
 * between begin and commit is followed by.
 *
 * Errors: `ARENA_ERROR_FORKED`, and what a custom writer sets.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_writer_abort_unit (ArenaWriter *self,
                         GError     **error)
{
  ArenaWriterInterface *iface;
  GError *local_error = NULL;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_WRITER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  iface = ARENA_WRITER_GET_IFACE (self);
  if (iface->abort_unit == NULL)
    {
      arena_vfunc_set_missing (self, "abort_unit", error);
      return FALSE;
    }

  success = iface->abort_unit (self, &local_error);
  return arena_vfunc_end (self, "abort_unit", success, local_error, error);
}
