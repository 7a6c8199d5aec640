/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-builder-fields-private.h"

#include "base/arena-error.h"
#include "memory/arena-limits-private.h"

#include <stdlib.h>
#include <string.h>

/* What of a unit has room neither in the arena nor in its queue slot. All of it shares one memory file, so one
 * descriptor is on its way for a unit, however many fields it has: the fields in the order they came, and at the end an
 * envelope that outgrew its slot.
 *
 * A field that the caller fills itself has a buffer in the heap until the commit. The file can't be mapped for that: it is
 * sealed against writing, which no writable mapping may outlive, and the caller's buffer may outlive the unit. */

gboolean
arena_unit_builder_spill (ArenaUnitBuilder    *self,
                          ArenaEnvelopeField  *field,
                          gconstpointer        data,
                          GError             **error)
{
  if (!arena_spill_file_append (&self->spill, data, (gsize) field->size, &field->offset, error))
    return FALSE;

  self->outside = TRUE;
  return TRUE;
}

GBytes *
arena_unit_builder_reserve_spill (ArenaUnitBuilder    *self,
                                  ArenaEnvelopeField  *field,
                                  GError             **error)
{
  gsize size = (gsize) field->size;
  ArenaHeapLoan loan = { .spilled = TRUE };
  gpointer buffer = NULL;

  /* First of all: asking for more than there is can be answered by the end of the process. */
  if (!arena_limits_check (size, NULL, error))
    return NULL;

  if (posix_memalign (&buffer, ARENA_SPILL_ALIGNMENT, size) != 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE,
                   "field %u: no memory for %" G_GSIZE_FORMAT " bytes outside of the arena", self->encoder.fields->len,
                   size);
      return NULL;
    }

  if (!arena_spill_file_reserve (&self->spill, size, &loan.offset, error))
    {
      free (buffer);
      return NULL;
    }

  /* What the caller doesn't write is sent, too. */
  memset (buffer, 0, size);
  self->outside = TRUE;
  field->offset = loan.offset;
  loan.bytes = g_bytes_new_with_free_func (buffer, size, free, buffer);
  g_array_append_val (self->loans, loan);
  return g_bytes_ref (loan.bytes);
}

gboolean
arena_unit_builder_grow_envelope (ArenaUnitBuilder  *self,
                                  guint64            whole,
                                  GError           **error)
{
  g_autofree char *what = g_strdup_printf ("field %u", self->encoder.fields->len);

  if (!arena_envelope_encoder_grow (&self->encoder, what, whole, error))
    return FALSE;

  self->outside = TRUE;
  return TRUE;
}

static gboolean
fill_loans (ArenaUnitBuilder  *self,
            GError           **error)
{
  for (guint i = 0; i < self->loans->len; i++)
    {
      ArenaHeapLoan *loan = &g_array_index (self->loans, ArenaHeapLoan, i);
      gsize size;
      gconstpointer data = g_bytes_get_data (loan->bytes, &size);

      if (loan->spilled && !arena_spill_file_fill (&self->spill, loan->offset, data, size, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
send_file (ArenaUnitBuilder  *self,
           guint64            fields_size,
           gsize              envelope_size,
           GError           **error)
{
  guint64 offset;

  if (!fill_loans (self, error))
    return FALSE;
  if (envelope_size > self->encoder.size &&
      !arena_spill_file_append (&self->spill, self->encoder.area, envelope_size, &offset, error))
    return FALSE;

  /* Where there was only the wish. */
  if (self->spill.fd < 0)
    return TRUE;

  return self->sink->send (self->owner, self->spill.fd, fields_size, self->spill.end, error) &&
         arena_spill_file_seal (&self->spill, error);
}

static gboolean
waited_in_vain (const GError *error)
{
  return g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK) ||
         g_error_matches (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT) ||
         g_error_matches (error, ARENA_ERROR, ARENA_ERROR_BUSY) ||
         g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

gboolean
arena_unit_builder_send_outside (ArenaUnitBuilder  *self,
                                 gsize              envelope_size,
                                 GError           **error)
{
  guint64 fields_size = self->spill.end;
  g_autoptr(GError) local_error = NULL;

  if (send_file (self, fields_size, envelope_size, &local_error))
    return TRUE;

  if (waited_in_vain (local_error))
    arena_spill_file_cut (&self->spill, fields_size);
  else
    arena_unit_builder_abort (self);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

void
arena_unit_builder_forget_outside (ArenaUnitBuilder *self)
{
  self->outside = FALSE;
  arena_spill_file_clear (&self->spill);
  arena_envelope_encoder_shrink (&self->encoder);
}
