/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-device-private.h"
#include "cuda/arena-cuda-kept-private.h"

static gboolean
release (gpointer         data,
         ArenaCudaScope  *scope,
         GError         **error)
{
  g_bytes_unref (data);
  return TRUE;
}

/**
 * arena_cuda_context_hold:
 * @self: a context
 * @bytes: bytes that a stream reads or writes
 * @stream: a CUDA stream of the context's device, as a number; 1 is the legacy default stream, 2 that of each thread
 * @error: return location for an error, or `NULL`
 *
 * Keeps bytes until a stream has done what it was given so far.
 *
 * This is for asynchronous copies that are not made by a transfer: call it after each. It keeps what @bytes own, such as a
 * unit's place in the arena, also where the caller drops them, and until it is proven that the stream is done; what can't
 * be proven goes to quarantine. That is looked at whenever a transfer is made, pinned memory asked for, or
 * [method@Arena.CudaContext.retry_quarantine] called. The stream must exist until then.
 *
 * May be called from any thread. Errors: `ARENA_CUDA_ERROR_CONTEXT_LOST`, `ARENA_CUDA_ERROR_FORKED`,
 * `ARENA_ERROR_INVALID_STATE`; then nothing is kept.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_cuda_context_hold (ArenaCudaContext *self,
                         GBytes           *bytes,
                         guint64           stream,
                         GError          **error)
{
  ArenaCudaDevice *device;
  ArenaCudaScope scope;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  device = arena_cuda_device_get (self, error);
  if (device == NULL || !arena_cuda_device_enter (device, &scope, error))
    return FALSE;

  arena_cuda_device_sweep (device, &scope);
  arena_cuda_device_retire (device, &scope, arena_cuda_fence_new (device, &scope, &stream, 1), g_bytes_get_size (bytes),
                            release, g_bytes_ref (bytes), NULL);
  arena_cuda_scope_leave (&scope);
  return TRUE;
}
