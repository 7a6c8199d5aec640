/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-copy-back-private.h"

#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-cuda-streams-private.h"
#include "cuda/arena-pinned-cache-private.h"

/* The same rule as for a transfer: neither side of the copy is given up before its end is proven. */

typedef struct
{
  ArenaCudaDevice *device;
  ArenaCudaStream  stream;
  GObject         *owner;
  GBytes          *bytes;
} Copy;

static gboolean
release (gpointer         data,
         ArenaCudaScope  *scope,
         GError         **error)
{
  Copy *copy = data;

  arena_cuda_stream_give_back (copy->device, copy->stream);
  g_bytes_unref (copy->bytes);
  g_object_unref (copy->owner);
  g_free (copy);
  return TRUE;
}

/* Takes @bytes. */
static void
quarantine (ArenaDeviceMemory *memory,
            ArenaCudaScope    *scope,
            ArenaCudaStream    stream,
            GObject           *owner,
            GBytes            *bytes,
            const GError      *reason)
{
  ArenaCudaDevice *device = memory->device;
  guint64 handle = GPOINTER_TO_SIZE (stream);
  Copy *copy = g_new (Copy, 1);

  *copy = (Copy) { device, stream, g_object_ref (owner), bytes };
  arena_cuda_stream_drop (device);
  arena_cuda_device_retire (device, scope, arena_cuda_fence_new (device, scope, &handle, 1), memory->size, release, copy,
                            g_error_copy (reason));
}

static gboolean
order (ArenaDeviceMemory  *memory,
       ArenaCudaScope     *scope,
       ArenaCudaStream     stream,
       GError            **error)
{
  g_autoptr(GArray) streams = arena_device_memory_list_streams (memory);

  return arena_device_memory_order (memory, scope, stream, error) &&
         arena_cuda_stream_order (memory->device, scope, stream, (const guint64 *) (gconstpointer) streams->data,
                                  streams->len, error);
}

static gboolean
enqueue (ArenaDeviceMemory  *memory,
         ArenaCudaScope     *scope,
         ArenaCudaStream     stream,
         GBytes             *bytes,
         GError            **error)
{
  gpointer to = (gpointer) g_bytes_get_data (bytes, NULL);

  return order (memory, scope, stream, error) &&
         arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "a download", cudaMemcpyAsync,
                          (to, memory->pointer, memory->size, ARENA_CUDA_MEMCPY_DEVICE_TO_HOST, stream));
}

GBytes *
arena_copy_back (ArenaDeviceMemory  *memory,
                 ArenaCudaScope     *scope,
                 GObject            *owner,
                 GError            **error)
{
  ArenaPinnedCache *cache = memory->device->staging;
  ArenaCudaStream stream = arena_cuda_stream_get (memory->device, scope, error);
  gpointer buffer = stream != NULL ? arena_pinned_cache_take (cache, memory->size, error) : NULL;
  GError *local_error = NULL;
  gboolean proven;
  GBytes *bytes;

  if (buffer == NULL)
    return NULL;

  bytes = arena_pinned_cache_finish (cache, buffer, memory->size);
  if (!enqueue (memory, scope, stream, bytes, &local_error))
    {
      GError *second = NULL;

      proven = arena_cuda_stream_drain (scope, stream, &second);
      arena_cuda_error_append (&local_error, second);
    }
  else
    proven = arena_cuda_stream_drain (scope, stream, &local_error);

  if (local_error == NULL)
    return bytes;

  if (proven)
    g_bytes_unref (bytes);
  else
    quarantine (memory, scope, stream, owner, bytes, local_error);
  g_propagate_error (error, local_error);
  return NULL;
}
