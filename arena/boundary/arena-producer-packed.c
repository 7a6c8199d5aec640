/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-producer-private.h"

#include "sync/arena-timing-private.h"
#include "unit/arena-packed-private.h"

/* A whole unit in one call, through the producer's own builder: order, limits and errors are the builder's. The record is
 * checked before anything is waited for, so a bad one costs no room in the queue.
 */

static gboolean
append_fields (ArenaUnitBuilder         *builder,
               const ArenaPackedRecord  *packed,
               GError                  **error)
{
  ArenaPackedField field = { .next = 0 };

  for (guint i = 0; i < packed->n_fields; i++)
    {
      gboolean strided;

      arena_packed_field_next (&field, packed);
      strided = (field.flags & ARENA_PACKED_HAS_STRIDES) != 0;
      if (arena_unit_builder_append_address (builder, field.name, (ArenaDType) field.dtype, field.shape,
                                             (gsize) field.n_dims, field.address, (gsize) field.size,
                                             field.byte_strides, strided ? (gsize) field.n_dims : 0, error) < 0)
        return FALSE;
    }

  return TRUE;
}

/* Payload and value can only go into the envelope, so they come before the fields, which can give way. */
static gboolean
fill (ArenaUnitBuilder         *builder,
      const ArenaPackedRecord  *packed,
      GError                  **error)
{
  return (packed->content_type == NULL ||
          arena_unit_builder_set_payload (builder, packed->content_type, packed->payload, packed->payload_size, error)) &&
         (packed->value == NULL || arena_unit_builder_set_value (builder, packed->value, error)) &&
         append_fields (builder, packed, error) && arena_unit_builder_commit (builder, error);
}

/**
 * arena_producer_send_packed:
 * @self: a producer
 * @timeout: microseconds for all waits of this unit together, 0 to only try, -1 for as long as the consumer lives
 * @cancellable: (nullable): a cancellable, for all waits of this unit
 * @record: (array length=n_bytes): the unit
 * @n_bytes: its size in bytes
 * @error: return location for an error, or `NULL`
 *
 * Sends one unit in one call: waits, copies every field, publishes.
 *
 * This is for bindings, to which every call is dear, and as dangerous as
 * [method@Arena.UnitBuilder.append_address]: fields are named by their addresses. Nothing is kept of a unit whose sending
 * failed, so the same call can be made again.
 *
 * [method@Arena.Consumer.next_packed] and [method@Arena.Unit.take_packed] describe a received unit in the same format. A
 * record is a row of unsigned 64-bit words in little-endian order, then bytes:
 *
 * - the head, 8 words: the number of fields; the address of the unit's storage; the unit's number; its iteration; the size
 *   of the content type; of the payload; of the value's type; of the value;
 * - for each field 6 words: position; size in bytes; data type ([enum@Arena.DType]); flags; number of dimensions; size of
 *   its name; then its shape and, with flag 1, its byte strides (signed), one word a dimension;
 * - the content type, the value's type and the names of the fields in turn, each in UTF-8 and ended by a NUL that its size
 *   counts; a size of 0 means that there is none;
 * - zeros up to a multiple of 8 from the record's start; the value as serialized by GLib in normal form and in the byte
 *   order of the machine; right behind it the payload;
 * - the bytes of fields with flag 2, anywhere behind, up to the record's end.
 *
 * A field's position is an offset from the record's first byte if flag 2 is set. Otherwise it is an address in this
 * process when sent, and an offset in the unit's storage when received. Received bytes with flag 2 are at multiples of 16.
 * Words 1 to 3 of the head are ignored when sent; a received record has 0 for the address of no storage. A field of no
 * bytes has a position of 0 when received.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` naming what is wrong in the record, which is checked whole before anything is
 * waited for; as of [method@Arena.Producer.begin_unit] and [method@Arena.UnitBuilder.append_address].
 *
 * Returns: `TRUE` once the unit was published, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_producer_send_packed (ArenaProducer  *self,
                            gint64          timeout,
                            GCancellable   *cancellable,
                            const guint8   *record,
                            gsize           n_bytes,
                            GError        **error)
{
  ArenaPackedRecord packed = { 0 };
  ArenaUnitBuilder *builder = NULL;
  gboolean sent = FALSE;

  g_return_val_if_fail (ARENA_IS_PRODUCER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (record != NULL || n_bytes == 0, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_timeout_check (timeout, error) || !arena_producer_enter (self, TRUE, error))
    return FALSE;

  if (arena_packed_record_init (&packed, record, n_bytes, self->channel->geometry.threshold, error))
    builder = arena_producer_begin_entered (self, (gsize) MIN (packed.storage_size, G_MAXSIZE), timeout, cancellable,
                                            error);
  else
    arena_waiter_leave (&self->waiter);

  if (builder != NULL)
    sent = fill (builder, &packed, error);
  if (builder != NULL && !sent)
    arena_unit_builder_abort (builder);

  arena_packed_record_clear (&packed);
  return sent;
}
