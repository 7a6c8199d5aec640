/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-device-private.h"
#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-cuda-retire-private.h"
#include "cuda/arena-quarantine.h"

/* Two lists: mappings that are still registered, which belong to the process, and what copies use, which belongs to a
 * device. A caller sees one. */

/**
 * arena_cuda_context_get_quarantined_bytes: (get-property quarantined-bytes)
 * @self: a context
 *
 * Gets how many bytes can't be given back as long as CUDA refuses to let go of them.
 *
 * May be called from any thread.
 *
 * Returns: the number of bytes
 *
 * Since: 0.1
 */
guint64
arena_cuda_context_get_quarantined_bytes (ArenaCudaContext *self)
{
  ArenaCudaKept kept;
  guint64 bytes;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  arena_cuda_retire_measure (NULL, &bytes);
  arena_cuda_device_count (arena_cuda_device_peek (self), NULL, &kept);
  return bytes + kept.bytes;
}

/**
 * arena_cuda_context_get_n_quarantined: (get-property n-quarantined)
 * @self: a context
 *
 * Gets how many things the quarantined bytes belong to.
 *
 * May be called from any thread.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint
arena_cuda_context_get_n_quarantined (ArenaCudaContext *self)
{
  ArenaCudaKept kept;
  guint n;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  arena_cuda_retire_measure (&n, NULL);
  arena_cuda_device_count (arena_cuda_device_peek (self), NULL, &kept);
  return n + kept.n_entries;
}

/**
 * arena_cuda_context_list_quarantine:
 * @self: a context
 *
 * Describes what is in quarantine because of a copy or of pinned buffers, the oldest first.
 *
 * Arenas that are still pinned are counted, but not among these: closing one again says why. May be called from any
 * thread; in a forked child there is nothing.
 *
 * Returns: (transfer container) (element-type ArenaQuarantine): the descriptions
 *
 * Since: 0.1
 */
GPtrArray *
arena_cuda_context_list_quarantine (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), NULL);

  return arena_cuda_device_list (arena_cuda_device_peek (self));
}

/**
 * arena_cuda_context_retry_quarantine:
 * @self: a context
 * @error: return location for an error, or `NULL`
 *
 * Tries again to give back what CUDA has refused to let go of, or was not known to be done with.
 *
 * What still can't be given back stays as it is, pinned and mapped, and may be tried again. The next use of pinned memory
 * tries by itself, too; this is for who wants to know. It doesn't wait for copies.
 *
 * May be called from any thread. Errors: the first that was met, such as `ARENA_CUDA_ERROR_UNREGISTER`,
 * `ARENA_CUDA_ERROR_QUARANTINED` or `ARENA_CUDA_ERROR_CONTEXT_LOST`; `ARENA_CUDA_ERROR_FORKED`.
 *
 * Returns: `TRUE` if nothing is left
 *
 * Since: 0.1
 */
gboolean
arena_cuda_context_retry_quarantine (ArenaCudaContext *self,
                                     GError          **error)
{
  ArenaCudaDevice *device;
  GError *local_error = NULL, *second = NULL;
  gboolean nothing_left;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  /* What a copy has used first: it may be the last that keeps a mapping. */
  device = arena_cuda_device_peek (self);
  nothing_left = device == NULL || arena_cuda_device_retry (device, &local_error);
  nothing_left &= arena_cuda_retire_drain (&second);
  if (nothing_left)
    return TRUE;

  arena_cuda_error_append (&local_error, second);
  g_propagate_error (error, local_error);
  return FALSE;
}
