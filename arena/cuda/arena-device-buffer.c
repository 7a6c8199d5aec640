/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-device-buffer-private.h"

#include "base/arena-error.h"
#include "cuda/arena-copy-back-private.h"

/* The object is a handle on device memory, which has the lock and outlives it for as long as anything uses it. */

/**
 * ArenaDeviceBuffer:
 *
 * Memory of a CUDA device that a transfer has filled.
 *
 * The memory can't be read here: its address is for code that runs on the device, such as a tensor library, and
 * [method@Arena.DeviceBuffer.download] copies it back.
 *
 * What [method@Arena.Transfer.run] returns is filled. After [method@Arena.Transfer.enqueue] it is filled some time later:
 * ask with [method@Arena.DeviceBuffer.is_ready], wait with [method@Arena.DeviceBuffer.synchronize], or let a stream of the
 * device wait with [method@Arena.DeviceBuffer.wait_on_stream].
 *
 * When the last reference is dropped the memory is freed, but not before the streams that were named with
 * [method@Arena.DeviceBuffer.record_stream] have done what they were given until then. Such a stream must exist until the
 * drop. The context's consumer stream is one of them from the beginning.
 *
 * It may be used, and dropped, on any thread.
 *
 * ```c
 * ArenaDeviceBuffer *buffer = g_ptr_array_index (buffers, 0);
 * launch_kernel (arena_device_buffer_get_pointer (buffer), arena_device_buffer_get_size (buffer), my_stream);
 * arena_device_buffer_record_stream (buffer, (guint64) my_stream, &error);
 * ```
 *
 * Since: 0.1
 */
struct _ArenaDeviceBuffer
{
  GObject            parent_instance;
  ArenaDeviceMemory *memory; /* NULL: constructed by hand */
};

enum
{
  PROP_DEVICE = 1,
  PROP_SIZE,
  PROP_POINTER,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_FINAL_TYPE (ArenaDeviceBuffer, arena_device_buffer, G_TYPE_OBJECT)

static void
arena_device_buffer_get_property (GObject    *object,
                                  guint       property_id,
                                  GValue     *value,
                                  GParamSpec *pspec)
{
  ArenaDeviceBuffer *self = ARENA_DEVICE_BUFFER (object);

  switch (property_id)
    {
    case PROP_DEVICE:
      g_value_set_int (value, arena_device_buffer_get_device (self));
      break;
    case PROP_SIZE:
      g_value_set_uint64 (value, arena_device_buffer_get_size (self));
      break;
    case PROP_POINTER:
      g_value_set_uint64 (value, arena_device_buffer_get_pointer (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_device_buffer_finalize (GObject *object)
{
  ArenaDeviceBuffer *self = ARENA_DEVICE_BUFFER (object);

  if (self->memory != NULL)
    arena_device_memory_retire (self->memory);

  G_OBJECT_CLASS (arena_device_buffer_parent_class)->finalize (object);
}

static void
arena_device_buffer_class_init (ArenaDeviceBufferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_device_buffer_get_property;
  object_class->finalize = arena_device_buffer_finalize;

  /**
   * ArenaDeviceBuffer:device: (getter get_device)
   *
   * The number of the device; -1 for an object that was constructed by hand.
   *
   * Since: 0.1
   */
  properties[PROP_DEVICE] =
    g_param_spec_int ("device", NULL, NULL, -1, G_MAXINT, -1, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaDeviceBuffer:size: (getter get_size)
   *
   * How many bytes there are.
   *
   * Since: 0.1
   */
  properties[PROP_SIZE] =
    g_param_spec_uint64 ("size", NULL, NULL, 0, G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaDeviceBuffer:pointer: (getter get_pointer)
   *
   * The address in the device's memory; 0 where there are no bytes.
   *
   * Since: 0.1
   */
  properties[PROP_POINTER] =
    g_param_spec_uint64 ("pointer", NULL, NULL, 0, G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
arena_device_buffer_init (ArenaDeviceBuffer *self)
{
}

ArenaDeviceBuffer *
arena_device_buffer_new (ArenaDeviceMemory *memory)
{
  ArenaDeviceBuffer *self = g_object_new (ARENA_TYPE_DEVICE_BUFFER, NULL);

  self->memory = memory;
  return self;
}

/**
 * arena_device_buffer_get_device: (get-property device)
 * @self: a device buffer
 *
 * Gets the number of the device.
 *
 * Returns: the number; -1 for an object that was constructed by hand
 *
 * Since: 0.1
 */
int
arena_device_buffer_get_device (ArenaDeviceBuffer *self)
{
  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), -1);

  return self->memory != NULL ? self->memory->device->number : -1;
}

/**
 * arena_device_buffer_get_size: (get-property size)
 * @self: a device buffer
 *
 * Gets how many bytes there are.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
gsize
arena_device_buffer_get_size (ArenaDeviceBuffer *self)
{
  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), 0);

  return self->memory != NULL ? self->memory->size : 0;
}

/**
 * arena_device_buffer_get_pointer: (get-property pointer)
 * @self: a device buffer
 *
 * Gets the address in the device's memory.
 *
 * It is valid while there is a reference on the buffer. JavaScript can't hold all of such numbers.
 *
 * Returns: the address; 0 where there are no bytes
 *
 * Since: 0.1
 */
guint64
arena_device_buffer_get_pointer (ArenaDeviceBuffer *self)
{
  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), 0);

  return self->memory != NULL ? (guint64) GPOINTER_TO_SIZE (self->memory->pointer) : 0;
}

gboolean
arena_device_buffer_check (ArenaDeviceBuffer *self,
                           GError           **error)
{
  if (G_LIKELY (self->memory != NULL))
    return arena_cuda_runtime_check_fork (error);

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                       "This buffer was constructed by hand; buffers come from a transfer");
  return FALSE;
}

static gboolean
enter (ArenaDeviceBuffer  *self,
       ArenaCudaScope     *scope,
       GError            **error)
{
  return arena_device_buffer_check (self, error) && arena_cuda_device_enter (self->memory->device, scope, error);
}

static gboolean
ask (ArenaDeviceBuffer   *self,
     gboolean           (*filled) (ArenaDeviceMemory *memory, ArenaCudaScope *scope, GError **error),
     GError             **error)
{
  ArenaCudaScope scope;
  gboolean ready;

  if (!enter (self, &scope, error))
    return FALSE;

  ready = filled (self->memory, &scope, error);
  arena_cuda_scope_leave (&scope);
  return ready;
}

/**
 * arena_device_buffer_is_ready:
 * @self: a device buffer
 * @error: return location for an error, or `NULL`
 *
 * Asks whether the buffer is filled, and waits for nothing.
 *
 * May be called from any thread. Errors: `ARENA_CUDA_ERROR_COPY`, `ARENA_CUDA_ERROR_CONTEXT_LOST`,
 * `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: `TRUE` if it is filled; `FALSE` without an error if it isn't yet
 *
 * Since: 0.1
 */
gboolean
arena_device_buffer_is_ready (ArenaDeviceBuffer *self,
                              GError           **error)
{
  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return ask (self, arena_device_memory_poll, error);
}

/**
 * arena_device_buffer_synchronize:
 * @self: a device buffer
 * @error: return location for an error, or `NULL`
 *
 * Waits until the buffer is filled.
 *
 * May be called from any thread. Errors: as of [method@Arena.DeviceBuffer.is_ready].
 *
 * Returns: `TRUE` if it is filled
 *
 * Since: 0.1
 */
gboolean
arena_device_buffer_synchronize (ArenaDeviceBuffer *self,
                                 GError           **error)
{
  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return ask (self, arena_device_memory_wait, error);
}

/**
 * arena_device_buffer_wait_on_stream:
 * @self: a device buffer
 * @stream: a CUDA stream, as a number; 1 is the legacy default stream, 2 that of each thread
 * @error: return location for an error, or `NULL`
 *
 * Lets a stream wait until the buffer is filled.
 *
 * What @stream is given from here on sees the data; the caller doesn't wait. That it uses the buffer is to be said as
 * well, with [method@Arena.DeviceBuffer.record_stream].
 *
 * May be called from any thread. Errors: as of [method@Arena.DeviceBuffer.is_ready].
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_device_buffer_wait_on_stream (ArenaDeviceBuffer *self,
                                    guint64            stream,
                                    GError           **error)
{
  ArenaCudaScope scope;
  gboolean success;

  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!enter (self, &scope, error))
    return FALSE;

  success = arena_device_memory_order (self->memory, &scope, GSIZE_TO_POINTER (stream), error);
  arena_cuda_scope_leave (&scope);
  return success;
}

/**
 * arena_device_buffer_record_stream:
 * @self: a device buffer
 * @stream: a CUDA stream, as a number; 1 is the legacy default stream, 2 that of each thread
 * @error: return location for an error, or `NULL`
 *
 * Notes that a stream uses the buffer.
 *
 * The memory is freed when @stream has done what it was given until the last reference on the buffer is dropped. The
 * stream must exist until then.
 *
 * May be called from any thread. Errors: `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_device_buffer_record_stream (ArenaDeviceBuffer *self,
                                   guint64            stream,
                                   GError           **error)
{
  ArenaCudaScope scope;

  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!enter (self, &scope, error))
    return FALSE;

  arena_device_memory_record_stream (self->memory, stream);
  arena_cuda_scope_leave (&scope);
  return TRUE;
}

/**
 * arena_device_buffer_download:
 * @self: a device buffer
 * @error: return location for an error, or `NULL`
 *
 * Copies the buffer to pinned memory of the host, and waits for that.
 *
 * It sees what streams that were recorded have been given so far.
 *
 * May be called from any thread. Errors: `ARENA_CUDA_ERROR_NO_MEMORY`, `ARENA_CUDA_ERROR_COPY`,
 * `ARENA_CUDA_ERROR_QUARANTINED` where it isn't known whether the copy has ended, which keeps the buffer and the memory,
 * `ARENA_CUDA_ERROR_CONTEXT_LOST`, `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: (transfer full): the bytes, or `NULL` with @error set
 *
 * Since: 0.1
 */
GBytes *
arena_device_buffer_download (ArenaDeviceBuffer *self,
                              GError           **error)
{
  ArenaCudaScope scope;
  GBytes *bytes;

  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!enter (self, &scope, error))
    return NULL;

  bytes = self->memory->size > 0 ? arena_copy_back (self->memory, &scope, G_OBJECT (self), error) : g_bytes_new (NULL, 0);
  arena_cuda_scope_leave (&scope);
  return bytes;
}
