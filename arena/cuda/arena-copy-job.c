/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-copy-job-private.h"

#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-cuda-streams-private.h"
#include "cuda/arena-pinned-cache-private.h"
#include "memory/arena-pin-table-private.h"

#include <string.h>

/* The rule of this file: a copy that CUDA was asked for may be running until CUDA has said that the stream is done, or an
 * event behind it. Without that, all goes to quarantine, the stream as well.
 *
 * Sources that are page-locked are read where they are. Others are copied to a page-locked buffer first: CUDA would do the
 * same, but for less than all of them at a time, and wait. */

struct _ArenaCopyJob
{
  ArenaCudaDevice *device;
  ArenaCudaStream  stream;
  GPtrArray       *kept;     /* GBytes that copies read */
  GPtrArray       *memories; /* ArenaDeviceMemory */
  gsize            bytes;
};

ArenaCopyJob *
arena_copy_job_new (ArenaCudaDevice  *device,
                    ArenaCudaScope   *scope,
                    GError          **error)
{
  ArenaCudaStream stream = arena_cuda_stream_get (device, scope, error);
  ArenaCopyJob *self;

  if (stream == NULL)
    return NULL;

  self = g_new0 (ArenaCopyJob, 1);
  self->device = device;
  self->stream = stream;
  self->kept = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  self->memories = g_ptr_array_new ();
  return self;
}

static void
free_job (ArenaCopyJob *self)
{
  g_ptr_array_unref (self->kept);
  g_clear_pointer (&self->memories, g_ptr_array_unref);
  g_free (self);
}

/* Copies of this job have ended, or there were none. A memory that CUDA doesn't take back is tried again later. */
static void
release_all (ArenaCopyJob   *self,
             ArenaCudaScope *scope)
{
  for (guint i = 0; i < self->memories->len; i++)
    {
      ArenaDeviceMemory *memory = g_ptr_array_index (self->memories, i);

      arena_cuda_device_retire (self->device, scope, NULL, memory->size, arena_device_memory_free, memory, NULL);
    }

  free_job (self);
}

/* For the quarantine. The stream is known to be idle again. */
static gboolean
release_proven (gpointer         data,
                ArenaCudaScope  *scope,
                GError         **error)
{
  ArenaCopyJob *self = data;

  arena_cuda_stream_give_back (self->device, self->stream);
  release_all (self, scope);
  return TRUE;
}

static gboolean
release_sources (gpointer         data,
                 ArenaCudaScope  *scope,
                 GError         **error)
{
  free_job (data);
  return TRUE;
}

static gboolean
is_host (ArenaCudaScope *scope,
         const guint8   *byte)
{
  ArenaCudaPointerAttributes attributes = { 0 };

  return arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, NULL, "the kind of memory", cudaPointerGetAttributes,
                          (&attributes, byte)) && attributes.type == ARENA_CUDA_MEMORY_HOST;
}

static GBytes *
stage (ArenaCopyJob  *self,
       GBytes        *source,
       GError       **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (source, &size);
  gpointer buffer = arena_pinned_cache_take (self->device->staging, size, error);

  if (buffer == NULL)
    return NULL;

  memcpy (buffer, data, size);
  return arena_pinned_cache_finish (self->device->staging, buffer, size);
}

/* Our own ranges are in the table; of somebody else's only CUDA knows. A range that only begins or ends in one of ours is
 * none that CUDA would copy from. */
static gboolean
is_readable (ArenaCudaScope *scope,
             const guint8   *data,
             gsize           size)
{
  const guint8 *last = data + size - 1;

  if (arena_pin_table_covers (data, size))
    return TRUE;
  if (arena_pin_table_covers (data, 1) || arena_pin_table_covers (last, 1))
    return FALSE;

  return is_host (scope, data) && is_host (scope, last);
}

static GBytes *
get_readable (ArenaCopyJob    *self,
              ArenaCudaScope  *scope,
              GBytes          *source,
              GError         **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (source, &size);

  return is_readable (scope, data, size) ? g_bytes_ref (source) : stage (self, source, error);
}

static gboolean
enqueue (ArenaCopyJob       *self,
         ArenaCudaScope     *scope,
         ArenaDeviceMemory  *memory,
         GBytes             *source,
         const char         *what,
         GError            **error)
{
  GBytes *readable = get_readable (self, scope, source, error);

  if (readable == NULL)
    return FALSE;

  g_ptr_array_add (self->kept, readable);
  return arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, what, cudaMemcpyAsync,
                          (memory->pointer, g_bytes_get_data (readable, NULL), memory->size,
                           ARENA_CUDA_MEMCPY_HOST_TO_DEVICE, self->stream));
}

gboolean
arena_copy_job_add (ArenaCopyJob    *self,
                    ArenaCudaScope  *scope,
                    GBytes          *source,
                    guint            index,
                    GError         **error)
{
  gsize size = g_bytes_get_size (source);
  g_autofree char *what = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes", size);
  ArenaDeviceMemory *memory = arena_device_memory_new (self->device, scope, self->stream, size, what, error);

  if (memory != NULL)
    {
      g_ptr_array_add (self->memories, memory);
      self->bytes += size;
      if (size == 0 || enqueue (self, scope, memory, source, what, error))
        return TRUE;
    }

  g_prefix_error (error, "Field %u: ", index);
  return FALSE;
}

/* Takes the job. */
static void
quarantine (ArenaCopyJob   *self,
            ArenaCudaScope *scope,
            const GError   *reason)
{
  guint64 stream = GPOINTER_TO_SIZE (self->stream);

  arena_cuda_stream_drop (self->device);
  arena_cuda_device_retire (self->device, scope, arena_cuda_fence_new (self->device, scope, &stream, 1), self->bytes,
                            release_proven, self, g_error_copy (reason));
}

void
arena_copy_job_drain (ArenaCopyJob    *self,
                      ArenaCudaScope  *scope,
                      GError         **error)
{
  GError *second = NULL;

  if (arena_cuda_stream_drain (scope, self->stream, &second))
    release_all (self, scope);
  else
    quarantine (self, scope, second);
  arena_cuda_error_append (error, second);
}

GPtrArray *
arena_copy_job_finish (ArenaCopyJob    *self,
                       ArenaCudaScope  *scope,
                       GError         **error)
{
  GError *local_error = NULL;
  GPtrArray *memories;

  if (!arena_cuda_stream_drain (scope, self->stream, &local_error))
    quarantine (self, scope, local_error);
  else if (local_error != NULL)
    release_all (self, scope);
  else
    {
      memories = g_steal_pointer (&self->memories);
      free_job (self);
      return memories;
    }

  g_propagate_error (error, local_error);
  return NULL;
}

static gboolean
mark_all (ArenaCopyJob    *self,
          ArenaCudaScope  *scope,
          GError         **error)
{
  for (guint i = 0; i < self->memories->len; i++)
    {
      ArenaDeviceMemory *memory = g_ptr_array_index (self->memories, i);

      if (memory->size > 0 && !arena_device_memory_mark (memory, scope, error))
        return FALSE;
    }

  return TRUE;
}

GPtrArray *
arena_copy_job_detach (ArenaCopyJob    *self,
                       ArenaCudaScope  *scope,
                       GError         **error)
{
  guint64 stream = GPOINTER_TO_SIZE (self->stream);
  GPtrArray *memories;

  if (!mark_all (self, scope, error))
    {
      arena_copy_job_drain (self, scope, error);
      return NULL;
    }

  memories = g_steal_pointer (&self->memories);
  arena_cuda_device_retire (self->device, scope, arena_cuda_fence_new (self->device, scope, &stream, 1), self->bytes,
                            release_sources, self, NULL);
  return memories;
}
