/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-builder-fields-private.h"

#include "base/arena-error.h"

#include <string.h>

/* One builder serves a producer for its whole life; what is allocated here is used again by the next unit. One
 * thread, no lock.
 *
 * A call that fails changes nothing: what was appended before is still there, and the same call may be made again.
 * Every call that adds something makes sure that the envelope can hold it together with its description, so a commit
 * never fails for want of room. The unit is over, and says so, before the sink learns of it: the sink may open the
 * next. */

/**
 * ArenaUnitBuilder:
 *
 * Collects the fields and values of one unit, and sends it.
 *
 * A builder comes from [method@Arena.Producer.begin_unit], which opens a unit; [method@Arena.UnitBuilder.commit] or
 * [method@Arena.UnitBuilder.abort] ends it. In between, fields are appended or reserved, and the unit may get a value
 * and a payload. Each byte is copied once: fields from a threshold on go straight into the arena, smaller ones into the
 * envelope that travels beside it.
 *
 * A unit has at most 4096 fields of at most 32 dimensions, with names of at most 1024 bytes.
 *
 * Every call that fails leaves the unit as it was. After `ARENA_ERROR_WOULD_BLOCK`, `ARENA_ERROR_TIMED_OUT`,
 * `ARENA_ERROR_BUSY` and `G_IO_ERROR_CANCELLED` the same call may be made again.
 *
 * A builder is used by one thread, that of its producer.
 *
 * ```c
 * const guint64 shape[] = { 32, 224, 224, 3 };
 *
 * if (arena_unit_builder_append_bytes (builder, "image", ARENA_DTYPE_UINT8, shape, 4, pixels, &error) < 0 ||
 *     !arena_unit_builder_commit (builder, &error))
 *   arena_unit_builder_abort (builder);
 * ```
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (ArenaUnitBuilder, arena_unit_builder, G_TYPE_OBJECT)

static void
heap_loan_clear (gpointer data)
{
  ArenaHeapLoan *loan = data;

  g_bytes_unref (loan->bytes);
}

static void
close_unit (ArenaUnitBuilder *self)
{
  self->open = FALSE;
  self->acquired = FALSE;
  if (self->loans->len > 0)
    g_array_set_size (self->loans, 0);
  if (G_UNLIKELY (self->outside))
    arena_unit_builder_forget_outside (self);
}

static void
arena_unit_builder_dispose (GObject *object)
{
  arena_unit_builder_detach (ARENA_UNIT_BUILDER (object));

  G_OBJECT_CLASS (arena_unit_builder_parent_class)->dispose (object);
}

static void
arena_unit_builder_finalize (GObject *object)
{
  ArenaUnitBuilder *self = ARENA_UNIT_BUILDER (object);

  arena_envelope_encoder_clear (&self->encoder);
  g_array_unref (self->loans);

  G_OBJECT_CLASS (arena_unit_builder_parent_class)->finalize (object);
}

static void
arena_unit_builder_class_init (ArenaUnitBuilderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = arena_unit_builder_dispose;
  object_class->finalize = arena_unit_builder_finalize;
}

static void
arena_unit_builder_init (ArenaUnitBuilder *self)
{
  arena_envelope_encoder_init (&self->encoder);
  arena_spill_file_init (&self->spill);
  self->loans = g_array_new (FALSE, FALSE, sizeof (ArenaHeapLoan));
  g_array_set_clear_func (self->loans, heap_loan_clear);
}

ArenaUnitBuilder *
arena_unit_builder_new (ArenaWriter         *writer,
                        guint64              threshold,
                        guint64              spill_above,
                        const ArenaUnitSink *sink,
                        gpointer             owner)
{
  ArenaUnitBuilder *self = g_object_new (ARENA_TYPE_UNIT_BUILDER, NULL);

  if (writer != NULL)
    self->writer = g_object_ref (writer);
  arena_writer_calls_init (&self->calls, writer);
  self->threshold = threshold;
  self->spill_above = spill_above;
  self->encoder.may_grow = sink->send != NULL;
  self->sink = sink;
  self->owner = owner;
  return self;
}

static gboolean
refuse_detached (GError **error)
{
  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "the producer of this builder is closed");
  return FALSE;
}

gboolean
arena_unit_builder_open (ArenaUnitBuilder  *self,
                         guint64            unit,
                         guint8            *envelope,
                         gsize              envelope_size,
                         gboolean           acquired,
                         GError           **error)
{
  g_return_val_if_fail (envelope_size >= sizeof (ArenaEnvelopeHeader), FALSE);
  g_return_val_if_fail ((guintptr) envelope % ARENA_ENVELOPE_INLINE_ALIGNMENT == 0, FALSE);

  if (self->sink == NULL)
    return refuse_detached (error);
  if (self->open)
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_INVALID_STATE,
                   "unit %" G_GUINT64_FORMAT " is still open: commit or abort it first",
                   self->unit);
      return FALSE;
    }

  arena_envelope_encoder_begin (&self->encoder, envelope, envelope_size);
  self->open = TRUE;
  self->acquired = acquired;
  self->unit = unit;
  self->storage_start = 0;
  self->storage_end = 0;
  return TRUE;
}

gboolean
arena_unit_builder_is_open (ArenaUnitBuilder *self)
{
  return self->open;
}

void
arena_unit_builder_detach (ArenaUnitBuilder *self)
{
  arena_unit_builder_abort (self);
  self->sink = NULL;
  self->owner = NULL;
  g_clear_object (&self->writer);
}

gboolean
arena_unit_builder_enter (ArenaUnitBuilder  *self,
                          GError           **error)
{
  if (self->sink == NULL)
    return refuse_detached (error);
  if (!self->sink->check (self->owner, error))
    return FALSE;
  if (!self->open)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "no unit is open: begin one first");
      return FALSE;
    }

  return TRUE;
}

/**
 * arena_unit_builder_set_value:
 * @self: a unit builder
 * @value: the value; a floating reference is sunk
 * @error: return location for an error, or `NULL`
 *
 * Gives the unit its portable value.
 *
 * Handles (`h`) in the value stand for fields: they are indices, and the commit checks that there are such fields. The
 * value is copied into the envelope, so it shares the room with small fields and the payload; setting it before the
 * fields are appended lets those give way. An envelope longer than [property@Arena.Consumer:envelope-size] travels in
 * memory of its own, which costs system calls. The value nests at most 64 deep.
 *
 * A unit has at most one value: a second call is `ARENA_ERROR_INVALID_STATE`. Other errors: `ARENA_ERROR_TOO_LARGE` for
 * an envelope of 4 GiB, `ARENA_ERROR_NO_SPACE`, `ARENA_ERROR_INVALID_ARGUMENT` for a negative handle or a value that
 * nests deeper, `ARENA_ERROR_INVALID_STATE` without an open unit, `ARENA_ERROR_CLOSED`, `ARENA_ERROR_PEER_GONE`,
 * `ARENA_ERROR_FORKED`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_unit_builder_set_value (ArenaUnitBuilder  *self,
                              GVariant          *value,
                              GError           **error)
{
  g_autoptr (GVariant) sunk = NULL;

  g_return_val_if_fail (ARENA_IS_UNIT_BUILDER (self), FALSE);
  g_return_val_if_fail (value != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  sunk = g_variant_ref_sink (value);
  if (!arena_unit_builder_enter (self, error) || !arena_envelope_encoder_set_value (&self->encoder, sunk, error))
    return FALSE;

  self->outside |= self->encoder.heap != NULL;
  return TRUE;
}

/**
 * arena_unit_builder_set_payload:
 * @self: a unit builder
 * @content_type: what the payload is, in UTF-8, at most 255 bytes, for example `application/json`
 * @payload: (array length=n_bytes) (nullable): the payload
 * @n_bytes: its size in bytes
 * @error: return location for an error, or `NULL`
 *
 * Gives the unit a payload: bytes that only the two ends understand.
 *
 * It is copied into the envelope, so it shares the room with small fields and the value; setting it before the fields
 * are appended lets those give way. An envelope longer than [property@Arena.Consumer:envelope-size] travels in memory of
 * its own, which costs system calls: large bytes are better sent as a field.
 *
 * A unit has at most one payload: a second call is `ARENA_ERROR_INVALID_STATE`. Other errors: `ARENA_ERROR_TOO_LARGE`
 * for an envelope of 4 GiB, `ARENA_ERROR_NO_SPACE`, `ARENA_ERROR_INVALID_ARGUMENT` for a bad @content_type,
 * `ARENA_ERROR_INVALID_STATE` without an open unit, `ARENA_ERROR_CLOSED`, `ARENA_ERROR_PEER_GONE`, `ARENA_ERROR_FORKED`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_unit_builder_set_payload (ArenaUnitBuilder  *self,
                                const char        *content_type,
                                const guint8      *payload,
                                gsize              n_bytes,
                                GError           **error)
{
  g_return_val_if_fail (ARENA_IS_UNIT_BUILDER (self), FALSE);
  g_return_val_if_fail (content_type != NULL, FALSE);
  g_return_val_if_fail (payload != NULL || n_bytes == 0, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_unit_builder_enter (self, error) ||
      !arena_envelope_encoder_set_payload (&self->encoder, content_type, payload, n_bytes, error))
    return FALSE;

  self->outside |= self->encoder.heap != NULL;
  return TRUE;
}

static void
copy_inline_loans (ArenaUnitBuilder *self)
{
  for (guint i = 0; i < self->loans->len; i++)
    {
      ArenaHeapLoan *loan = &g_array_index (self->loans, ArenaHeapLoan, i);
      gsize size;
      gconstpointer data = g_bytes_get_data (loan->bytes, &size);

      if (!loan->spilled)
        memcpy (self->encoder.area + loan->offset, data, size);
    }
}

static gboolean
check_handles (ArenaUnitBuilder  *self,
               GError           **error)
{
  if (self->encoder.n_handled <= self->encoder.fields->len)
    return TRUE;

  g_set_error (error,
               ARENA_ERROR,
               ARENA_ERROR_INVALID_ARGUMENT,
               "the value has a handle for field %u, but the unit has %u fields",
               self->encoder.n_handled - 1,
               self->encoder.fields->len);
  return FALSE;
}

/* Storage that was taken and not used goes back: such a unit takes no segment. */
static gboolean
settle_storage (ArenaUnitBuilder  *self,
                guint64           *span,
                GError           **error)
{
  *span = 0;
  if (!self->acquired)
    return TRUE;
  if (self->storage_end == 0)
    return arena_writer_abort_unit (self->writer, error);

  return arena_writer_calls_commit_unit (&self->calls, span, error);
}

/**
 * arena_unit_builder_commit:
 * @self: a unit builder
 * @error: return location for an error, or `NULL`
 *
 * Sends the unit.
 *
 * Buffers from [method@Arena.UnitBuilder.reserve] must not be written to any more. A unit without a field and without a
 * value is as good as any other.
 *
 * This waits for nothing, unless a part of the unit travels outside of the arena and the system has no room for one more
 * descriptor on its way to the consumer: then for as long as the unit was begun with. After `ARENA_ERROR_WOULD_BLOCK`,
 * `ARENA_ERROR_TIMED_OUT`, `ARENA_ERROR_BUSY` and `G_IO_ERROR_CANCELLED` the unit is still open.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` without an open unit, `ARENA_ERROR_INVALID_ARGUMENT` if the value has a handle
 * for a field that there isn't (the unit stays open), `ARENA_ERROR_CLOSED`, `ARENA_ERROR_PEER_GONE`,
 * `ARENA_ERROR_FORKED`, those of waiting, and what the arena reports; `ARENA_ERROR_NO_SPACE` where there is no memory
 * outside of the arena for a buffer from [method@Arena.UnitBuilder.reserve] or for the envelope. After an error of the
 * arena, and after `ARENA_ERROR_NO_SPACE`, the unit is over and was not sent.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_unit_builder_commit (ArenaUnitBuilder  *self,
                           GError           **error)
{
  guint64 span;
  gsize size;

  g_return_val_if_fail (ARENA_IS_UNIT_BUILDER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_unit_builder_enter (self, error) || !check_handles (self, error))
    return FALSE;

  copy_inline_loans (self);
  size = arena_envelope_encoder_finish (&self->encoder);
  if (G_UNLIKELY (self->outside) && !arena_unit_builder_send_outside (self, size, error))
    return FALSE;
  if (!settle_storage (self, &span, error))
    {
      arena_unit_builder_abort (self);
      return FALSE;
    }

  close_unit (self);
  return self->sink->publish (self->owner,
                              size,
                              span,
                              self->storage_start,
                              self->storage_end - self->storage_start,
                              error);
}

/**
 * arena_unit_builder_abort:
 * @self: a unit builder
 *
 * Gives the unit up: nothing of it is sent, and its place in the arena is free again.
 *
 * Buffers from [method@Arena.UnitBuilder.reserve] must not be written to any more. Without an open unit this does
 * nothing.
 *
 * Since: 0.1
 */
void
arena_unit_builder_abort (ArenaUnitBuilder *self)
{
  g_autoptr (GError) error = NULL;
  gboolean acquired;

  g_return_if_fail (ARENA_IS_UNIT_BUILDER (self));

  if (!self->open)
    return;

  acquired = self->acquired;
  close_unit (self);

  /* In a forked child the unit is still its parent's. */
  if (!self->sink->check (self->owner, &error) && g_error_matches (error, ARENA_ERROR, ARENA_ERROR_FORKED))
    return;

  if (acquired)
    arena_writer_abort_unit (self->writer, NULL);
  self->sink->abandon (self->owner);
}
