/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-quarantine-private.h"

/* A plain record, filled once and constant from then on: any thread may read it. */

/**
 * ArenaQuarantine:
 *
 * Describes something that can't be given up, because it isn't known that the device is done with it.
 *
 * It may be the bytes and buffers of a transfer, a device buffer, or pinned memory. The description itself keeps nothing;
 * see [method@Arena.CudaContext.retry_quarantine].
 *
 * ```c
 * g_autoptr (GPtrArray) entries = arena_cuda_context_list_quarantine (context);
 *
 * for (guint i = 0; i < entries->len; i++)
 *   g_print ("%s\n", arena_quarantine_get_reason (g_ptr_array_index (entries, i)));
 * ```
 *
 * Since: 0.1
 */
struct _ArenaQuarantine
{
  char    *reason;
  guint64  bytes;
  gint64   age;
};

G_DEFINE_BOXED_TYPE (ArenaQuarantine, arena_quarantine, arena_quarantine_copy, arena_quarantine_free)

ArenaQuarantine *
arena_quarantine_new (const char *reason,
                      guint64     bytes,
                      gint64      age)
{
  ArenaQuarantine *self = g_new (ArenaQuarantine, 1);

  *self = (ArenaQuarantine) { g_strdup (reason), bytes, age };
  return self;
}

/**
 * arena_quarantine_copy:
 * @self: a description
 *
 * Copies a description.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
ArenaQuarantine *
arena_quarantine_copy (const ArenaQuarantine *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return arena_quarantine_new (self->reason, self->bytes, self->age);
}

/**
 * arena_quarantine_free:
 * @self: (transfer full): a description
 *
 * Frees a description.
 *
 * Since: 0.1
 */
void
arena_quarantine_free (ArenaQuarantine *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->reason);
  g_free (self);
}

/**
 * arena_quarantine_get_reason:
 * @self: a description
 *
 * Gets why it is kept: the message of the error.
 *
 * Returns: (transfer none): the reason
 *
 * Since: 0.1
 */
const char *
arena_quarantine_get_reason (const ArenaQuarantine *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->reason;
}

/**
 * arena_quarantine_get_bytes:
 * @self: a description
 *
 * Gets how many bytes were to be copied or freed.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_quarantine_get_bytes (const ArenaQuarantine *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->bytes;
}

/**
 * arena_quarantine_get_age:
 * @self: a description
 *
 * Gets for how long it had been kept when the description was made.
 *
 * Returns: the time in microseconds
 *
 * Since: 0.1
 */
gint64
arena_quarantine_get_age (const ArenaQuarantine *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->age;
}
