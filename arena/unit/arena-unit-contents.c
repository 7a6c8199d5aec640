/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-contents-private.h"

#include "base/arena-error.h"
#include "memory/arena-fork-private.h"
#include "memory/arena-pin-table-private.h"
#include "unit/arena-field-private.h"
#include "unit/arena-packed-private.h"

#include <string.h>

/* What is in a unit. Bytes leave as views that own their storage, everything else as a copy. Reading the envelope
 * needs no reference: the caller's on the unit keeps it. */

/**
 * arena_unit_find_field:
 * @self: a unit
 * @name: a name
 *
 * Finds the first field of that name.
 *
 * It takes time in proportion to the number of fields, and works after a release, too.
 *
 * Returns: the index of the field, or -1 if there is none
 *
 * Since: 0.1
 */
gint
arena_unit_find_field (ArenaUnit  *self,
                       const char *name)
{
  const ArenaEnvelope *envelope;
  gsize size;

  g_return_val_if_fail (ARENA_IS_UNIT (self), -1);
  g_return_val_if_fail (name != NULL, -1);

  if (self->box == NULL)
    return -1;

  envelope = &self->box->envelope;
  size = strlen (name);
  for (guint i = 0; i < envelope->header->n_fields; i++)
    {
      const char *other = arena_envelope_get_name (envelope, &envelope->fields[i]);

      if (other != NULL && envelope->fields[i].name_size == size && memcmp (other, name, size) == 0)
        return (gint) i;
    }

  return -1;
}

/* At every entry that can fail. */
static gboolean
check_usable (ArenaUnit  *self,
              GError    **error)
{
  if (G_UNLIKELY (self->box == NULL))
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                         "This unit was constructed by hand; units come from a consumer");
  else if (G_UNLIKELY (!arena_fork_is_current (self->generation)))
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_FORKED, "unit %" G_GUINT64_FORMAT " was received before a fork",
                 self->sequence);
  else if (G_UNLIKELY (arena_unit_get_released (self)))
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "unit %" G_GUINT64_FORMAT " was released",
                 self->sequence);
  else
    return TRUE;

  return FALSE;
}

/* NULL with an error where there is no such field, or no unit any more. */
static const ArenaEnvelopeField *
lookup_field (ArenaUnit  *self,
              guint       index,
              GError    **error)
{
  const ArenaEnvelope *envelope;

  if (!check_usable (self, error))
    return NULL;

  envelope = &self->box->envelope;
  if (index >= envelope->header->n_fields)
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_INVALID_ARGUMENT,
                   "there is no field %u: unit %" G_GUINT64_FORMAT " has %u",
                   index,
                   self->sequence,
                   envelope->header->n_fields);
      return NULL;
    }

  return &envelope->fields[index];
}

static gboolean
is_pinned (ArenaUnitBox             *box,
           const ArenaEnvelopeField *field)
{
  g_autoptr(GBytes) view = arena_pin_table_is_empty () ? NULL : arena_unit_box_view (box, field);

  return view != NULL && arena_pin_table_covers (g_bytes_get_data (view, NULL), g_bytes_get_size (view));
}

/**
 * arena_unit_dup_field:
 * @self: a unit
 * @index: the index of a field
 * @error: return location for an error, or `NULL`
 *
 * Describes a field.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` if there is no such field, `ARENA_ERROR_INVALID_STATE` after a release,
 * `ARENA_ERROR_FORKED`.
 *
 * Returns: (transfer full): the description, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaField *
arena_unit_dup_field (ArenaUnit  *self,
                      guint       index,
                      GError    **error)
{
  const ArenaEnvelopeField *field;
  const ArenaEnvelope *envelope;
  ArenaField *description;

  g_return_val_if_fail (ARENA_IS_UNIT (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  field = lookup_field (self, index, error);
  if (field == NULL)
    return NULL;

  envelope = &self->box->envelope;
  description = arena_field_new (arena_envelope_get_name (envelope, field),
                                 (ArenaDType) field->dtype,
                                 (gsize) field->size,
                                 envelope->words + field->words,
                                 arena_envelope_get_strides (envelope, field),
                                 field->n_dims);
  if (arena_envelope_field_placement (field) == ARENA_PLACEMENT_STORAGE)
    {
      arena_field_set_offset (description, field->offset);
      arena_field_set_is_pinned (description, is_pinned (self->box, field));
    }
  return description;
}

/**
 * arena_unit_dup_bytes:
 * @self: a unit
 * @index: the index of a field
 * @error: return location for an error, or `NULL`
 *
 * Gives out a view of a field's bytes, without a copy.
 *
 * The view owns its storage: it stays valid, with the same contents, until its last reference is dropped, whatever
 * happens to the unit, the arena or the producer. Dropping it is allowed on any thread. Each call makes a new view
 * that counts in [property@Arena.Unit:n-exports].
 *
 * The view of a field with a dimension of 0 is 0 bytes long, and its data pointer is not `NULL`.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` if there is no such field, `ARENA_ERROR_INVALID_STATE` after a release,
 * `ARENA_ERROR_FORKED`.
 *
 * Returns: (transfer full): the view, or `NULL` with @error set
 *
 * Since: 0.1
 */
GBytes *
arena_unit_dup_bytes (ArenaUnit  *self,
                      guint       index,
                      GError    **error)
{
  const ArenaEnvelopeField *field;
  GBytes *view;

  g_return_val_if_fail (ARENA_IS_UNIT (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  field = lookup_field (self, index, error);
  if (field == NULL)
    return NULL;

  view = arena_unit_box_view (self->box, field);
  if (view == NULL)
    check_usable (self, error); /* another thread has released it since */

  return view;
}

/**
 * arena_unit_dup_storage:
 * @self: a unit
 * @error: return location for an error, or `NULL`
 *
 * Gives out one view of all that the unit has in the arena, without a copy.
 *
 * One view for many fields is cheaper than one for each; [method@Arena.Field.get_offset] says where in it a field is. It
 * owns the storage as a view of [method@Arena.Unit.dup_bytes] does. Fields that did not fit into the arena are not in it
 * and have no offset there.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` after a release, `ARENA_ERROR_FORKED`.
 *
 * Returns: (transfer full) (nullable): the view; or `NULL`, without an error if the unit has nothing in the arena, since
 *   all of its fields are small or did not fit
 *
 * Since: 0.1
 */
GBytes *
arena_unit_dup_storage (ArenaUnit  *self,
                        GError    **error)
{
  g_autoptr (GBytes) view = NULL;

  g_return_val_if_fail (ARENA_IS_UNIT (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  /* In this order: another thread may release it in between. */
  if (self->box != NULL && arena_fork_is_current (self->generation))
    view = arena_unit_box_view_storage (self->box);
  if (view == NULL)
    check_usable (self, error);

  return g_steal_pointer (&view);
}

/**
 * arena_unit_dup_value:
 * @self: a unit
 * @error: return location for an error, or `NULL`
 *
 * Gets the unit's portable value.
 *
 * It is a copy that owns nothing of the arena. Handles (`h`) in it are indices of fields, and there are such fields. The
 * producer may be any program, so check that the value has the type you expect.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` after a release, `ARENA_ERROR_FORKED`.
 *
 * Returns: (transfer full) (nullable): the value; or `NULL`, without an error if the unit has none
 *
 * Since: 0.1
 */
GVariant *
arena_unit_dup_value (ArenaUnit  *self,
                      GError    **error)
{
  const ArenaEnvelope *envelope;
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (ARENA_IS_UNIT (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!check_usable (self, error))
    return NULL;

  envelope = &self->box->envelope;
  if (arena_envelope_get_value (envelope) == NULL)
    return NULL;

  bytes = g_bytes_new (arena_envelope_get_value (envelope), envelope->header->value_size);
  /* Normal form was checked with the envelope. */
  return g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (arena_envelope_get_value_type (envelope)),
                                                       bytes, TRUE));
}

/**
 * arena_unit_copy_payload:
 * @self: a unit
 * @n_bytes: (out) (optional): return location for the size of the payload in bytes
 * @content_type: (out) (optional) (nullable) (transfer full): return location for what the payload is, `NULL` if the
 *   unit has none
 * @error: return location for an error, or `NULL`
 *
 * Copies the unit's payload.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` after a release, `ARENA_ERROR_FORKED`.
 *
 * Returns: (array length=n_bytes) (transfer full) (nullable): the payload; or `NULL`, without an error if the unit has
 *   none
 *
 * Since: 0.1
 */
guint8 *
arena_unit_copy_payload (ArenaUnit  *self,
                         gsize      *n_bytes,
                         char      **content_type,
                         GError    **error)
{
  const ArenaEnvelope *envelope;
  guint8 *payload;
  gsize size;

  g_return_val_if_fail (ARENA_IS_UNIT (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (n_bytes != NULL)
    *n_bytes = 0;
  if (content_type != NULL)
    *content_type = NULL;

  if (!check_usable (self, error))
    return NULL;

  envelope = &self->box->envelope;
  if (arena_envelope_get_payload (envelope) == NULL)
    return NULL;

  /* One byte more: an empty payload is not the same as none. */
  size = envelope->header->payload_size;
  payload = g_malloc (size + 1);
  memcpy (payload, arena_envelope_get_payload (envelope), size);
  payload[size] = 0;
  if (n_bytes != NULL)
    *n_bytes = size;
  if (content_type != NULL)
    *content_type = g_strdup (arena_envelope_get_content_type (envelope));
  return payload;
}

/* @joined: of all large fields, NULL where there are none. */
static gboolean
view_all (ArenaUnit  *self,
          GBytes    **joined,
          guint64    *spill_start,
          GError    **error)
{
  g_autoptr (GBytes) storage = NULL;
  g_autoptr (GBytes) spill = NULL;

  if (self->box != NULL && arena_fork_is_current (self->generation))
    {
      storage = arena_unit_box_view_storage (self->box);
      if (G_UNLIKELY (self->box->spill != NULL))
        spill = arena_unit_box_view_spill (self->box);
    }
  /* In this order: another thread may release it in between. */
  if ((storage == NULL || (self->box->spill != NULL && spill == NULL)) && !check_usable (self, error))
    return FALSE;

  return arena_packed_join (g_steal_pointer (&storage), g_steal_pointer (&spill), joined, spill_start, error);
}

/**
 * arena_unit_take_packed:
 * @self: a unit
 * @n_bytes: (out): return location for the size of the record in bytes
 * @storage: (out) (optional) (nullable) (transfer full): return location for a view of all of the unit's bytes in the
 *   arena, `NULL` if it has none there
 * @error: return location for an error, or `NULL`
 *
 * Takes everything that is in the unit at once, and releases it.
 *
 * This is for bindings, to which every call is dear. The record is that of [method@Arena.Producer.send_packed]: the
 * positions of its fields are offsets in @storage, or in the record itself for small ones. @storage owns the place in
 * the arena as a view of [method@Arena.Unit.dup_bytes] does. Where some fields did not fit into the arena and others did,
 * @storage is a copy of them all.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` after a release, `ARENA_ERROR_FORKED`; `ARENA_ERROR_NO_SPACE` for that copy, after
 * which the unit is as before.
 *
 * Returns: (array length=n_bytes) (transfer full): the record, or `NULL` with @error set
 *
 * Since: 0.1
 */
guint8 *
arena_unit_take_packed (ArenaUnit  *self,
                        gsize      *n_bytes,
                        GBytes    **storage,
                        GError    **error)
{
  g_autoptr (GBytes) joined = NULL;
  guint64 spill_start;
  guint8 *record;

  g_return_val_if_fail (ARENA_IS_UNIT (self), NULL);
  g_return_val_if_fail (n_bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  *n_bytes = 0;
  if (storage != NULL)
    *storage = NULL;

  if (!view_all (self, &joined, &spill_start, error))
    return NULL;

  record = arena_packed_encode (&self->box->envelope, self->sequence, self->epoch,
                                joined != NULL ? g_bytes_get_data (joined, NULL) : NULL, spill_start, n_bytes);
  if (storage != NULL)
    *storage = g_steal_pointer (&joined);
  arena_unit_release (self);
  return record;
}
