/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-builder-fields-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-error.h"
#include "base/arena-layout-private.h"
#include "unit/arena-shape-private.h"

#include <string.h>

/* The three ways to add a field: describe it, find it a place, put the bytes there, and only then write it down.
 * Whatever fails before leaves no trace in the envelope; storage that was taken stays taken and serves the retry.
 *
 * Small fields share the envelope with descriptions, which have no other place to go. So a field goes inline only while
 * a quarter of the envelope stays free behind it; the next ones go to the arena, where there is one. */

/* A field on its way. */
typedef struct
{
  ArenaEnvelopeField entry;
  const char *name;
  const guint64 *shape;
  const gint64 *byte_strides;
} Draft;

static gboolean G_GNUC_PRINTF (4, 5)
refuse (ArenaUnitBuilder *self,
        const char       *name,
        GError          **error,
        const char       *format,
        ...)
{
  g_autofree char *reason = NULL;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error,
               ARENA_ERROR,
               ARENA_ERROR_INVALID_ARGUMENT,
               "field %u%s%.64s%s: %s",
               self->encoder.fields->len,
               name != NULL ? " \"" : "",
               name != NULL && g_utf8_validate (name, -1, NULL) ? name : "",
               name != NULL ? "\"" : "",
               reason);
  return FALSE;
}

static gboolean
describe_name (ArenaUnitBuilder  *self,
               Draft             *draft,
               GError           **error)
{
  gsize size;

  if (draft->name == NULL)
    return TRUE;

  size = strlen (draft->name);
  if (size > ARENA_MAX_NAME)
    return refuse (self, draft->name, error, "a name of %" G_GSIZE_FORMAT " bytes; at most %d", size, ARENA_MAX_NAME);
  if (!g_utf8_validate (draft->name, (gssize) size, NULL))
    return refuse (self, NULL, error, "the name is not UTF-8");

  draft->entry.kind |= ARENA_FIELD_HAS_NAME;
  draft->entry.name_size = (guint16) size;
  return TRUE;
}

/* Everything about a field but its bytes; entry.size becomes that of C order. */
static gboolean
describe (ArenaUnitBuilder  *self,
          Draft             *draft,
          ArenaDType         dtype,
          gsize              n_dims,
          GError           **error)
{
  guint item_size = arena_dtype_get_item_size (dtype);

  if (item_size == 0)
    return refuse (self, draft->name, error, "0x%x is not a data type", (guint) dtype);
  if (self->encoder.fields->len == ARENA_MAX_FIELDS)
    return refuse (self, draft->name, error, "a unit has at most %d", ARENA_MAX_FIELDS);
  if (n_dims > ARENA_MAX_DIMS)
    return refuse (self, draft->name, error, "%" G_GSIZE_FORMAT " dimensions; at most %d", n_dims, ARENA_MAX_DIMS);
  if (!arena_shape_get_size (draft->shape, n_dims, item_size, &draft->entry.size))
    return refuse (self, draft->name, error, "its shape has more than %" G_GINT64_FORMAT " bytes", G_MAXINT64);

  draft->entry.dtype = (guint32) dtype;
  draft->entry.n_dims = (guint8) n_dims;
  return describe_name (self, draft, error);
}

/* Takes @size bytes, that lie as @byte_strides say, for a draft described. */
static gboolean
describe_bytes (ArenaUnitBuilder  *self,
                Draft             *draft,
                gsize              size,
                const gint64      *byte_strides,
                GError           **error)
{
  gsize n_dims = draft->entry.n_dims;
  guint item_size = arena_dtype_get_item_size ((ArenaDType) draft->entry.dtype);
  guint64 expected = draft->entry.size;
  guint64 extent;

  if (byte_strides == NULL || expected == 0 ||
      (size == expected && arena_shape_is_c_order (draft->shape, byte_strides, n_dims, item_size)))
    return size == expected ||
           refuse (self, draft->name, error, "its shape has %" G_GUINT64_FORMAT " bytes, its data %" G_GSIZE_FORMAT,
                   expected, size);

  if (!arena_shape_get_extent (draft->shape, byte_strides, n_dims, item_size, &extent))
    return refuse (self, draft->name, error, "its strides lead before its first byte, or too far");
  if (extent > size)
    return refuse (self, draft->name, error, "its strides reach %" G_GUINT64_FORMAT " bytes, it has %" G_GSIZE_FORMAT,
                   extent, size);
  if (size > G_MAXINT64)
    return refuse (self, draft->name, error, "%" G_GSIZE_FORMAT " bytes; at most %" G_GINT64_FORMAT, size, G_MAXINT64);

  draft->entry.size = size;
  draft->entry.kind |= ARENA_FIELD_HAS_STRIDES;
  draft->byte_strides = byte_strides;
  return TRUE;
}

static gboolean
place_inline (ArenaUnitBuilder *self,
              Draft            *draft,
              gsize             record_size)
{
  guint64 room = self->writer != NULL ? self->encoder.size - self->encoder.size / 4 : self->encoder.room;

  if (self->writer != NULL && draft->entry.size >= self->threshold)
    return FALSE;
  if (arena_envelope_encoder_size_with (&self->encoder, record_size, draft->entry.size) > room)
    return FALSE;

  draft->entry.kind |= ARENA_PLACEMENT_INLINE;
  draft->entry.offset = arena_envelope_encoder_take_data (&self->encoder, (gsize) draft->entry.size);
  return TRUE;
}

/* Decides where the bytes go; with storage, it is held afterwards. Only the writer knows whether they fit, though. */
static gboolean
place (ArenaUnitBuilder  *self,
       Draft             *draft,
       GError           **error)
{
  gsize record_size = arena_envelope_field_record_size (&draft->entry);
  guint64 data_size = self->writer != NULL ? 0 : draft->entry.size;
  guint64 whole = arena_envelope_encoder_size_with (&self->encoder, record_size, data_size);

  if (G_UNLIKELY (whole > self->encoder.room) && !arena_unit_builder_grow_envelope (self, whole, error))
    return FALSE;
  if (draft->entry.size == 0 || place_inline (self, draft, record_size))
    return TRUE;

  if (G_UNLIKELY (draft->entry.size > self->spill_above))
    {
      draft->entry.kind |= ARENA_PLACEMENT_SPILL;
      return TRUE;
    }

  if (!self->acquired && !self->sink->acquire (self->owner, (gsize) draft->entry.size, error))
    return FALSE;

  self->acquired = TRUE;
  draft->entry.kind |= ARENA_PLACEMENT_STORAGE;
  return TRUE;
}

/* @offset is what the writer said. Fields lie one behind the other, or the unit would have no start and no end. */
static gboolean
settle (ArenaUnitBuilder  *self,
        Draft             *draft,
        guint64            offset,
        GError           **error)
{
  guint64 end;

  if (offset % ARENA_FIELD_ALIGNMENT != 0 || offset < self->storage_end ||
      !arena_checked_add (offset, draft->entry.size, &end))
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_BACKEND,
                   "field %u was placed at %" G_GUINT64_FORMAT ": not a multiple of %d, or before %" G_GUINT64_FORMAT,
                   self->encoder.fields->len,
                   offset,
                   ARENA_FIELD_ALIGNMENT,
                   self->storage_end);
      return FALSE;
    }

  if (self->storage_end == 0)
    self->storage_start = offset;
  self->storage_end = end;
  draft->entry.offset = offset - self->storage_start;
  return TRUE;
}

/* After the writer has refused it: whether the field goes outside. */
static gboolean
turn_away (ArenaUnitBuilder  *self,
           Draft             *draft,
           GError            *reason,
           GError           **error)
{
  if (self->spill_above == G_MAXUINT64 || !g_error_matches (reason, ARENA_ERROR, ARENA_ERROR_TOO_LARGE))
    {
      g_propagate_error (error, reason);
      return FALSE;
    }

  g_error_free (reason);
  draft->entry.kind = (guint8) ((draft->entry.kind & ~ARENA_FIELD_PLACEMENT) | ARENA_PLACEMENT_SPILL);
  return TRUE;
}

/* Copies a field to the arena; if it must not or can't be there, outside. */
static gboolean
store (ArenaUnitBuilder  *self,
       Draft             *draft,
       GBytes            *bytes,
       gconstpointer      data,
       GError           **error)
{
  GError *refusal = NULL;
  guint64 offset;

  if (G_LIKELY (arena_envelope_field_placement (&draft->entry) == ARENA_PLACEMENT_STORAGE))
    {
      if (G_LIKELY (arena_writer_calls_write (&self->calls, bytes, data, (gsize) draft->entry.size, &offset, &refusal)))
        return settle (self, draft, offset, error);
      if (!turn_away (self, draft, refusal, error))
        return FALSE;
    }

  return arena_unit_builder_spill (self, &draft->entry, data, error);
}

/* Writes the field down; returns its index. */
static gint
add (ArenaUnitBuilder *self,
     Draft            *draft)
{
  arena_envelope_encoder_add_field (&self->encoder, &draft->entry, draft->name, draft->shape, draft->byte_strides);
  return (gint) self->encoder.fields->len - 1;
}

/* Places and copies. @bytes may be NULL where only an address is known. */
static gint
append (ArenaUnitBuilder  *self,
        Draft             *draft,
        GBytes            *bytes,
        gconstpointer      data,
        GError           **error)
{
  if (!place (self, draft, error))
    return -1;

  switch (arena_envelope_field_placement (&draft->entry))
    {
    case ARENA_PLACEMENT_INLINE:
      memcpy (self->encoder.area + draft->entry.offset, data, (gsize) draft->entry.size);
      break;
    case ARENA_PLACEMENT_STORAGE:
    case ARENA_PLACEMENT_SPILL:
      if (!store (self, draft, bytes, data, error))
        return -1;
      break;
    case ARENA_PLACEMENT_EMPTY:
    default:
      break;
    }

  return add (self, draft);
}

/**
 * arena_unit_builder_append_bytes:
 * @self: a unit builder
 * @name: (nullable): the field's name in UTF-8, at most 1024 bytes; it need not be unique
 * @dtype: the data type of its items
 * @shape: (array length=n_dims) (nullable): the length of every dimension in items, outermost first
 * @n_dims: the number of dimensions, at most 32; a scalar has none
 * @data: the items in C order
 * @error: return location for an error, or `NULL`
 *
 * Appends a field and copies its bytes.
 *
 * The size of @data must be that of the shape. A field with a dimension of 0 takes no room at all.
 *
 * The first field that goes to the arena may wait for storage, for as long as the unit was begun with. What has no room
 * there goes outside where the arena's `oversize` is `ARENA_OVERSIZE_SPILL`.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` if the arguments contradict each other or a limit, `ARENA_ERROR_TOO_LARGE`
 * if the unit can't hold the field, `ARENA_ERROR_INVALID_STATE` without an open unit, `ARENA_ERROR_WOULD_BLOCK`,
 * `ARENA_ERROR_TIMED_OUT`, `ARENA_ERROR_BUSY`, `ARENA_ERROR_NO_SPACE`, `ARENA_ERROR_CLOSED`, `ARENA_ERROR_PEER_GONE`,
 * `ARENA_ERROR_FORKED`, `ARENA_ERROR_BACKEND` and `G_IO_ERROR_CANCELLED`.
 *
 * Returns: the index of the field, or -1 with @error set
 *
 * Since: 0.1
 */
gint
arena_unit_builder_append_bytes (ArenaUnitBuilder  *self,
                                 const char        *name,
                                 ArenaDType         dtype,
                                 const guint64     *shape,
                                 gsize              n_dims,
                                 GBytes            *data,
                                 GError           **error)
{
  Draft draft = { .name = name, .shape = shape };
  gconstpointer items;
  gsize size;

  g_return_val_if_fail (ARENA_IS_UNIT_BUILDER (self), -1);
  g_return_val_if_fail (shape != NULL || n_dims == 0, -1);
  g_return_val_if_fail (data != NULL, -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  items = g_bytes_get_data (data, &size);
  if (!arena_unit_builder_enter (self, error) ||
      !describe (self, &draft, dtype, n_dims, error) ||
      !describe_bytes (self, &draft, size, NULL, error))
    return -1;

  return append (self, &draft, data, items, error);
}

static gboolean
check_address (ArenaUnitBuilder  *self,
               const char        *name,
               gsize              n_dims,
               guint64            address,
               gsize              size,
               gsize              n_strides,
               GError           **error)
{
  if (n_strides != 0 && n_strides != n_dims)
    return refuse (self, name, error, "%" G_GSIZE_FORMAT " strides for %" G_GSIZE_FORMAT " dimensions", n_strides,
                   n_dims);
  if (size > 0 && (address == 0 || address > G_MAXSIZE || size - 1 > G_MAXSIZE - address))
    return refuse (self, name, error, "%" G_GSIZE_FORMAT " bytes can't be at address 0x%" G_GINT64_MODIFIER "x", size,
                   address);

  return TRUE;
}

/**
 * arena_unit_builder_append_address:
 * @self: a unit builder
 * @name: (nullable): the field's name in UTF-8, at most 1024 bytes; it need not be unique
 * @dtype: the data type of its items
 * @shape: (array length=n_dims) (nullable): the length of every dimension in items, outermost first
 * @n_dims: the number of dimensions, at most 32; a scalar has none
 * @address: where the bytes are in this process
 * @size: how many bytes to copy
 * @byte_strides: (array length=n_strides) (nullable): the distance in bytes between neighbours in every dimension, or
 *   `NULL` for C order
 * @n_strides: the number of strides: 0 or @n_dims
 * @error: return location for an error, or `NULL`
 *
 * Appends a field and copies its bytes from an address.
 *
 * This is dangerous: nothing can check that @size readable bytes are at @address, and a wrong one ends the process or
 * sends what it should not. It is meant for bindings, which know the memory of an array by its address only; other code
 * uses [method@Arena.UnitBuilder.append_bytes]. The memory is not used after this returns.
 *
 * With strides, the bytes are copied as they lie, in Fortran order for example, and the consumer gets the same strides.
 * @address is that of the first item, and every item must lie within the @size bytes from there: strides are not
 * negative. A stride of 0 repeats an item.
 *
 * The first field that goes to the arena may wait for storage, for as long as the unit was begun with. Errors are
 * those of [method@Arena.UnitBuilder.append_bytes].
 *
 * Returns: the index of the field, or -1 with @error set
 *
 * Since: 0.1
 */
gint
arena_unit_builder_append_address (ArenaUnitBuilder  *self,
                                   const char        *name,
                                   ArenaDType         dtype,
                                   const guint64     *shape,
                                   gsize              n_dims,
                                   guint64            address,
                                   gsize              size,
                                   const gint64      *byte_strides,
                                   gsize              n_strides,
                                   GError           **error)
{
  Draft draft = { .name = name, .shape = shape };

  g_return_val_if_fail (ARENA_IS_UNIT_BUILDER (self), -1);
  g_return_val_if_fail (shape != NULL || n_dims == 0, -1);
  g_return_val_if_fail (byte_strides != NULL || n_strides == 0, -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  if (!arena_unit_builder_enter (self, error) ||
      !describe (self, &draft, dtype, n_dims, error) ||
      !check_address (self, name, n_dims, address, size, n_strides, error) ||
      !describe_bytes (self, &draft, size, n_strides > 0 ? byte_strides : NULL, error))
    return -1;

  return append (self, &draft, NULL, GSIZE_TO_POINTER (address), error);
}

/* A place in the arena that the caller fills; if it must not or can't be there, a buffer whose contents go outside. */
static GBytes *
lend (ArenaUnitBuilder  *self,
      Draft             *draft,
      GError           **error)
{
  g_autoptr (GBytes) bytes = NULL;
  GError *refusal = NULL;
  guint64 offset;

  if (arena_envelope_field_placement (&draft->entry) == ARENA_PLACEMENT_STORAGE)
    {
      bytes = arena_writer_reserve (self->writer, (gsize) draft->entry.size, ARENA_FIELD_ALIGNMENT, &offset, &refusal);
      if (bytes != NULL)
        return settle (self, draft, offset, error) ? g_steal_pointer (&bytes) : NULL;
      if (!turn_away (self, draft, refusal, error))
        return NULL;
    }

  return arena_unit_builder_reserve_spill (self, &draft->entry, error);
}

/* A buffer of the heap for a field that goes into the envelope. */
static GBytes *
lend_inline (ArenaUnitBuilder *self,
             Draft            *draft)
{
  gsize size = (gsize) draft->entry.size;
  ArenaHeapLoan loan = {
    .bytes = g_bytes_new_take (g_malloc0 (size), size),
    .offset = draft->entry.offset,
  };

  g_array_append_val (self->loans, loan);
  return g_bytes_ref (loan.bytes);
}

/**
 * arena_unit_builder_reserve:
 * @self: a unit builder
 * @name: (nullable): the field's name in UTF-8, at most 1024 bytes; it need not be unique
 * @dtype: the data type of its items
 * @shape: (array length=n_dims) (nullable): the length of every dimension in items, outermost first
 * @n_dims: the number of dimensions, at most 32; a scalar has none
 * @index: (out) (optional): return location for the index of the field
 * @error: return location for an error, or `NULL`
 *
 * Appends a field whose bytes the caller writes itself.
 *
 * The buffer is writable, although it is a [struct@GLib.Bytes], until the unit is committed or aborted. Writing to it
 * later spoils what the consumer reads. A large field's buffer is its final place in the arena, and what stands in it
 * at first is undefined; while it lives, that place is not used for another unit, so drop it soon after the commit. A
 * field that goes outside of the arena has an ordinary buffer, which the commit copies.
 *
 * The first field that goes to the arena may wait for storage, for as long as the unit was begun with. Errors are
 * those of [method@Arena.UnitBuilder.append_bytes].
 *
 * Returns: (transfer full): the buffer, or `NULL` with @error set
 *
 * Since: 0.1
 */
GBytes *
arena_unit_builder_reserve (ArenaUnitBuilder  *self,
                            const char        *name,
                            ArenaDType         dtype,
                            const guint64     *shape,
                            gsize              n_dims,
                            guint             *index,
                            GError           **error)
{
  Draft draft = { .name = name, .shape = shape };
  g_autoptr (GBytes) bytes = NULL;
  gint added;

  g_return_val_if_fail (ARENA_IS_UNIT_BUILDER (self), NULL);
  g_return_val_if_fail (shape != NULL || n_dims == 0, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!arena_unit_builder_enter (self, error) ||
      !describe (self, &draft, dtype, n_dims, error) ||
      !place (self, &draft, error))
    return NULL;

  switch (arena_envelope_field_placement (&draft.entry))
    {
    case ARENA_PLACEMENT_INLINE:
      bytes = lend_inline (self, &draft);
      break;
    case ARENA_PLACEMENT_STORAGE:
    case ARENA_PLACEMENT_SPILL:
      bytes = lend (self, &draft, error);
      if (bytes == NULL)
        return NULL;
      break;
    case ARENA_PLACEMENT_EMPTY:
    default:
      bytes = g_bytes_new (NULL, 0);
      break;
    }

  added = add (self, &draft);
  if (index != NULL)
    *index = (guint) added;
  return g_steal_pointer (&bytes);
}
