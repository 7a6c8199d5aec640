/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-field-private.h"

#include <stdatomic.h>
#include <string.h>

/* Immutable, one allocation, and so a copy is a reference. A description owns no storage: it may outlive the unit and
 * costs it nothing. */

/**
 * ArenaField:
 *
 * Describes one field of a unit: its name, data type, shape and size.
 *
 * The bytes themselves come from [method@Arena.Unit.dup_bytes]. A description is immutable, may be used from any
 * thread, and stays valid after its unit was released.
 *
 * ```c
 * g_autoptr (ArenaField) field = arena_unit_dup_field (unit, 0, &error);
 * gsize n_dims;
 * const guint64 *shape = arena_field_get_shape (field, &n_dims);
 * ```
 *
 * Since: 0.1
 */
struct _ArenaField
{
  atomic_uint n_refs;
  ArenaDType dtype;
  gsize size;
  gsize n_dims;
  gint64 offset;              /* -1: not in the arena */
  gboolean is_pinned;         /* when the description was made */
  const gint64 *byte_strides; /* NULL: C order; else into words, after the shape */
  const char *name;           /* NULL, or after the words */
  guint64 words[];
};

G_DEFINE_BOXED_TYPE (ArenaField, arena_field, arena_field_copy, arena_field_free)

ArenaField *
arena_field_new (const char    *name,
                 ArenaDType     dtype,
                 gsize          size,
                 const guint64 *shape,
                 const gint64  *byte_strides,
                 gsize          n_dims)
{
  gsize n_words = byte_strides != NULL ? 2 * n_dims : n_dims;
  gsize name_size = name != NULL ? strlen (name) + 1 : 0;
  ArenaField *self = g_malloc (sizeof *self + n_words * sizeof (guint64) + name_size);

  atomic_init (&self->n_refs, 1);
  self->dtype = dtype;
  self->size = size;
  self->n_dims = n_dims;
  self->offset = -1;
  self->is_pinned = FALSE;
  self->byte_strides = NULL;
  self->name = NULL;

  if (n_dims > 0)
    memcpy (self->words, shape, n_dims * sizeof (guint64));
  if (byte_strides != NULL)
    self->byte_strides = memcpy (self->words + n_dims, byte_strides, n_dims * sizeof (gint64));
  if (name != NULL)
    self->name = memcpy (self->words + n_words, name, name_size);

  return self;
}

void
arena_field_set_offset (ArenaField *self,
                        guint64     offset)
{
  self->offset = (gint64) offset;
}

void
arena_field_set_is_pinned (ArenaField *self,
                           gboolean    is_pinned)
{
  self->is_pinned = is_pinned;
}

/**
 * arena_field_copy:
 * @self: a field description
 *
 * Copies a description, which costs no more than a reference count.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
ArenaField *
arena_field_copy (const ArenaField *self)
{
  ArenaField *copy = (ArenaField *) self;

  g_return_val_if_fail (self != NULL, NULL);

  atomic_fetch_add_explicit (&copy->n_refs, 1, memory_order_relaxed);
  return copy;
}

/**
 * arena_field_free:
 * @self: (transfer full): a field description
 *
 * Frees a description.
 *
 * Since: 0.1
 */
void
arena_field_free (ArenaField *self)
{
  g_return_if_fail (self != NULL);

  if (atomic_fetch_sub_explicit (&self->n_refs, 1, memory_order_acq_rel) == 1)
    g_free (self);
}

/**
 * arena_field_get_name:
 * @self: a field description
 *
 * Gets the name the producer gave to the field.
 *
 * Names need not be unique within a unit.
 *
 * Returns: (transfer none) (nullable): the name in UTF-8, or `NULL` if the field has none
 *
 * Since: 0.1
 */
const char *
arena_field_get_name (const ArenaField *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name;
}

/**
 * arena_field_get_dtype:
 * @self: a field description
 *
 * Gets the data type of the field's items.
 *
 * Returns: the data type
 *
 * Since: 0.1
 */
ArenaDType
arena_field_get_dtype (const ArenaField *self)
{
  g_return_val_if_fail (self != NULL, ARENA_DTYPE_UINT8);

  return self->dtype;
}

/**
 * arena_field_get_size:
 * @self: a field description
 *
 * Gets how many bytes the field has.
 *
 * Without strides this is the product of the shape and the item size, and 0 where a dimension is 0.
 *
 * Returns: the size in bytes
 *
 * Since: 0.1
 */
gsize
arena_field_get_size (const ArenaField *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->size;
}

/**
 * arena_field_get_shape:
 * @self: a field description
 * @n_dims: (out) (optional): return location for the number of dimensions
 *
 * Gets the length of every dimension, in items, outermost first.
 *
 * A scalar has no dimensions.
 *
 * Returns: (array length=n_dims) (transfer none): the shape
 *
 * Since: 0.1
 */
const guint64 *
arena_field_get_shape (const ArenaField *self,
                       gsize            *n_dims)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (n_dims != NULL)
    *n_dims = self->n_dims;
  return self->words;
}

/**
 * arena_field_get_byte_strides:
 * @self: a field description
 * @n_dims: (out) (optional): return location for the number of strides: that of the dimensions, or 0
 *
 * Gets the distance in bytes between neighbours in every dimension.
 *
 * Only a field whose items do not lie in C order, without gaps, has strides. The first item is at offset 0, and no
 * stride leads out of the field's bytes.
 *
 * Returns: (array length=n_dims) (transfer none) (nullable): the strides, or `NULL` for C order
 *
 * Since: 0.1
 */
const gint64 *
arena_field_get_byte_strides (const ArenaField *self,
                              gsize            *n_dims)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (n_dims != NULL)
    *n_dims = self->byte_strides != NULL ? self->n_dims : 0;
  return self->byte_strides;
}

/**
 * arena_field_get_offset:
 * @self: a field description
 *
 * Gets where the field's bytes begin in [method@Arena.Unit.dup_storage].
 *
 * Returns: the offset in bytes, or -1 for a small field, which came with the unit's description, for one that did not fit
 *   into the arena, and for one without bytes
 *
 * Since: 0.1
 */
gint64
arena_field_get_offset (const ArenaField *self)
{
  g_return_val_if_fail (self != NULL, -1);

  return self->offset;
}

/**
 * arena_field_get_is_pinned:
 * @self: a field description
 *
 * Gets whether the field's bytes are in memory that is pinned for a device.
 *
 * That is as it was when the description was made. Only a field in an arena with pinned memory can be, and no field that is
 * small enough to travel with the description, or empty.
 *
 * Returns: `TRUE` if a device can copy from a view of it directly
 *
 * Since: 0.1
 */
gboolean
arena_field_get_is_pinned (const ArenaField *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->is_pinned;
}
