/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-context-private.h"

#include "cuda/arena-cuda-retire-private.h"
#include "memory/arena-pin-table-private.h"

/* What is constant needs no lock, and what counts has its own. */

/**
 * arena_cuda_context_get_device: (get-property device)
 * @self: a context
 *
 * Gets the number of the device.
 *
 * May be called from any thread.
 *
 * Returns: the number, or -1 for an object that was constructed by hand
 *
 * Since: 0.1
 */
int
arena_cuda_context_get_device (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), -1);

  return self->device;
}

/**
 * arena_cuda_context_get_runtime_version: (get-property runtime-version)
 * @self: a context
 *
 * Gets the version of the runtime library.
 *
 * May be called from any thread.
 *
 * Returns: the version, as CUDA counts: 13000 is 13.0
 *
 * Since: 0.1
 */
guint
arena_cuda_context_get_runtime_version (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  return self->runtime != NULL ? (guint) self->runtime->version : 0;
}

/**
 * arena_cuda_context_get_driver_version: (get-property driver-version)
 * @self: a context
 *
 * Gets the version of CUDA that the driver is for.
 *
 * May be called from any thread.
 *
 * Returns: the version, counted as the runtime's
 *
 * Since: 0.1
 */
guint
arena_cuda_context_get_driver_version (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  return self->runtime != NULL ? (guint) self->runtime->driver_version : 0;
}

/**
 * arena_cuda_context_get_library_path: (get-property library-path)
 * @self: a context
 *
 * Gets which runtime library is used.
 *
 * May be called from any thread.
 *
 * Returns: (transfer none) (nullable): the path
 *
 * Since: 0.1
 */
const char *
arena_cuda_context_get_library_path (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), NULL);

  return self->runtime != NULL ? self->runtime->path : NULL;
}

/**
 * arena_cuda_context_get_page_locks: (get-property page-locks)
 * @self: a context
 *
 * Gets whether pinning locks pages in memory.
 *
 * May be called from any thread.
 *
 * Returns: `FALSE` where the device uses the host's page tables
 *
 * Since: 0.1
 */
gboolean
arena_cuda_context_get_page_locks (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), FALSE);

  return self->page_locks;
}

/**
 * arena_cuda_context_get_pinned_bytes: (get-property pinned-bytes)
 * @self: a context
 *
 * Gets how many bytes this library has pinned in this process, for whatever device.
 *
 * May be called from any thread.
 *
 * Returns: the number of bytes; 0 in a forked child
 *
 * Since: 0.1
 */
guint64
arena_cuda_context_get_pinned_bytes (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  return arena_pin_table_measure (NULL, G_MAXSIZE, NULL);
}

/**
 * arena_cuda_context_get_n_registrations: (get-property n-registrations)
 * @self: a context
 *
 * Gets how many ranges the pinned bytes are in.
 *
 * May be called from any thread.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint
arena_cuda_context_get_n_registrations (ArenaCudaContext *self)
{
  guint n;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  arena_pin_table_measure (NULL, G_MAXSIZE, &n);
  return n;
}

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
  guint64 bytes;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  arena_cuda_retire_measure (NULL, &bytes);
  return bytes;
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
  guint n;

  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  arena_cuda_retire_measure (&n, NULL);
  return n;
}
