/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-device-memory-private.h"

#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-cuda-streams-private.h"

/* Memory is given back to CUDA only when nothing uses it, which is proven as for everything else. So it doesn't matter on
 * which stream it is given back. A pointer to no bytes is none, and has nothing to wait for. */

static gboolean
call_allocator (ArenaDeviceMemory  *self,
                ArenaCudaScope     *scope,
                const char         *what,
                GError            **error)
{
  gpointer *place = (gpointer *) &self->pointer;

  if (self->pooled)
    return arena_cuda_call (scope, ARENA_CUDA_ERROR_NO_MEMORY, error, what, cudaMallocAsync,
                            (place, self->size, self->stream));

  return arena_cuda_call (scope, ARENA_CUDA_ERROR_NO_MEMORY, error, what, cudaMalloc, (place, self->size));
}

static void
destroy (ArenaDeviceMemory *self)
{
  g_array_unref (self->streams);
  pthread_mutex_destroy (&self->mutex);
  g_free (self);
}

ArenaDeviceMemory *
arena_device_memory_new (ArenaCudaDevice  *device,
                         ArenaCudaScope   *scope,
                         ArenaCudaStream   stream,
                         gsize             size,
                         const char       *what,
                         GError          **error)
{
  ArenaDeviceMemory *self = g_new0 (ArenaDeviceMemory, 1);

  self->device = device;
  self->size = size;
  self->stream = stream;
  self->pooled = device->context->has_pools;
  self->streams = g_array_new (FALSE, FALSE, sizeof (guint64));
  pthread_mutex_init (&self->mutex, NULL);
  if (size == 0 || call_allocator (self, scope, what, error))
    return self;

  destroy (self);
  return NULL;
}

static gboolean
call_free (ArenaDeviceMemory  *self,
           ArenaCudaScope     *scope,
           GError            **error)
{
  const char *what = "memory of the device";
  ArenaCudaStream stream;

  if (self->pointer == NULL)
    return TRUE;
  if (!self->pooled)
    return arena_cuda_call (scope, ARENA_CUDA_ERROR_QUARANTINED, error, what, cudaFree, (self->pointer));

  stream = arena_cuda_stream_get (self->device, scope, error);
  return stream != NULL &&
         arena_cuda_call (scope, ARENA_CUDA_ERROR_QUARANTINED, error, what, cudaFreeAsync, (self->pointer, stream));
}

gboolean
arena_device_memory_free (gpointer         data,
                          ArenaCudaScope  *scope,
                          GError         **error)
{
  ArenaDeviceMemory *self = data;

  if (!call_free (self, scope, error))
    return FALSE;

  if (self->filled != NULL)
    arena_cuda_event_give_back (self->device, self->filled);
  destroy (self);
  return TRUE;
}

void
arena_device_memory_retire (ArenaDeviceMemory *self)
{
  ArenaCudaDevice *device = self->device;
  GArray *streams = self->streams;
  const guint64 *handles;
  GError *error = NULL;
  ArenaCudaScope scope;
  guint64 filler = GPOINTER_TO_SIZE (self->stream);

  /* On the device it is the parent's. */
  if (!arena_cuda_runtime_check_fork (NULL))
    {
      destroy (self);
      return;
    }

  if (!arena_cuda_device_enter (device, &scope, &error))
    {
      if (self->filled != NULL)
        arena_device_memory_record_stream (self, filler);
      handles = (const guint64 *) (gconstpointer) streams->data;
      arena_cuda_device_keep (device, handles, streams->len, self->size, arena_device_memory_free, self, error);
      return;
    }

  /* What else its stream was given is nothing to wait for. */
  if (!arena_device_memory_poll (self, &scope, NULL))
    arena_device_memory_record_stream (self, filler);
  handles = (const guint64 *) (gconstpointer) streams->data;
  arena_cuda_device_retire (device, &scope, arena_cuda_fence_new (device, &scope, handles, streams->len), self->size,
                            arena_device_memory_free, self, NULL);
  arena_cuda_scope_leave (&scope);
}

gboolean
arena_device_memory_mark (ArenaDeviceMemory  *self,
                          ArenaCudaScope     *scope,
                          GError            **error)
{
  self->filled = arena_cuda_event_record (self->device, scope, self->stream, error);
  return self->filled != NULL;
}

/* With the lock. */
static gboolean
judge (ArenaDeviceMemory *self,
       gboolean           filled)
{
  if (filled && self->filled != NULL && self->n_waits == 0)
    arena_cuda_event_give_back (self->device, g_steal_pointer (&self->filled));

  return filled;
}

gboolean
arena_device_memory_poll (ArenaDeviceMemory  *self,
                          ArenaCudaScope     *scope,
                          GError            **error)
{
  gboolean filled;

  pthread_mutex_lock (&self->mutex);
  filled = judge (self, self->filled == NULL ||
                        arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "a buffer's copy", cudaEventQuery,
                                         (self->filled)));
  pthread_mutex_unlock (&self->mutex);
  return filled;
}

gboolean
arena_device_memory_wait (ArenaDeviceMemory  *self,
                          ArenaCudaScope     *scope,
                          GError            **error)
{
  ArenaCudaEvent event;
  gboolean filled;

  /* Others may ask in the meantime. */
  pthread_mutex_lock (&self->mutex);
  event = self->filled;
  self->n_waits++;
  pthread_mutex_unlock (&self->mutex);

  filled = event == NULL ||
           arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "a buffer's copy", cudaEventSynchronize, (event));

  pthread_mutex_lock (&self->mutex);
  self->n_waits--;
  judge (self, filled);
  pthread_mutex_unlock (&self->mutex);
  return filled;
}

gboolean
arena_device_memory_order (ArenaDeviceMemory  *self,
                           ArenaCudaScope     *scope,
                           ArenaCudaStream     stream,
                           GError            **error)
{
  gboolean success;

  pthread_mutex_lock (&self->mutex);
  success = self->filled == NULL ||
            arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "a stream that waits for a buffer's copy",
                             cudaStreamWaitEvent, (stream, self->filled, 0));
  pthread_mutex_unlock (&self->mutex);
  return success;
}

void
arena_device_memory_record_stream (ArenaDeviceMemory *self,
                                   guint64            stream)
{
  gboolean known = FALSE;

  pthread_mutex_lock (&self->mutex);
  for (guint i = 0; i < self->streams->len && !known; i++)
    known = g_array_index (self->streams, guint64, i) == stream;
  if (!known)
    g_array_append_val (self->streams, stream);
  pthread_mutex_unlock (&self->mutex);
}

GArray *
arena_device_memory_list_streams (ArenaDeviceMemory *self)
{
  GArray *streams;

  pthread_mutex_lock (&self->mutex);
  streams = g_array_copy (self->streams);
  pthread_mutex_unlock (&self->mutex);
  return streams;
}
