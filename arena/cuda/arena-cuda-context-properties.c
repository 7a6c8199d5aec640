/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-context-private.h"

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
 * arena_cuda_context_get_consumer_stream: (get-property consumer-stream)
 * @self: a context
 *
 * Gets the stream that uses what transfers return.
 *
 * May be called from any thread.
 *
 * Returns: the stream, as a number
 *
 * Since: 0.1
 */
guint64
arena_cuda_context_get_consumer_stream (ArenaCudaContext *self)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (self), 0);

  return self->consumer_stream;
}

/**
 * arena_cuda_context_set_consumer_stream: (set-property consumer-stream)
 * @self: a context
 * @stream: a CUDA stream, as a number; 1 is the legacy default stream, 2 that of each thread
 *
 * Sets the stream that uses what transfers return.
 *
 * It is recorded for each buffer from here on, as by [method@Arena.DeviceBuffer.record_stream], and must exist for as long.
 * May be called from any thread.
 *
 * Since: 0.1
 */
void
arena_cuda_context_set_consumer_stream (ArenaCudaContext *self,
                                        guint64           stream)
{
  g_return_if_fail (ARENA_IS_CUDA_CONTEXT (self));

  self->consumer_stream = stream;
}
