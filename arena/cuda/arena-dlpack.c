/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-dlpack-private.h"

#include "base/arena-error.h"
#include "cuda/arena-device-buffer-private.h"
#include "unit/arena-dtype.h"
#include "unit/arena-envelope-private.h"
#include "unit/arena-shape-private.h"

/* A tensor library calls the deleter when it has no more use for the memory: on any thread, perhaps without a lock of an
 * interpreter, and perhaps while the device still works with it. So it is plain C and only drops a reference; the buffer
 * waits for the streams that were recorded. */

typedef struct
{
  ArenaDeviceBuffer *buffer;
  gint64            *shape;
  union
  {
    ArenaDLManaged   managed;
    ArenaDLVersioned versioned;
  };
} Export;

static void
free_export (Export *self)
{
  g_object_unref (self->buffer);
  g_free (self->shape);
  g_free (self);
}

static void
delete_managed (ArenaDLManaged *managed)
{
  free_export (managed->context);
}

static void
delete_versioned (ArenaDLVersioned *versioned)
{
  free_export (versioned->context);
}

static gboolean
check_shape (ArenaDeviceBuffer  *self,
             ArenaDType          dtype,
             const guint64      *shape,
             gsize               n_dims,
             GError            **error)
{
  guint item_size = arena_dtype_get_item_size (dtype);
  gsize has = arena_device_buffer_get_size (self);
  g_autofree char *what = NULL;
  guint64 size;

  if (item_size == 0)
    what = g_strdup_printf ("0x%x is not a data type", (guint) dtype);
  else if (n_dims > ARENA_MAX_DIMS)
    what = g_strdup_printf ("%" G_GSIZE_FORMAT " dimensions; at most %d", n_dims, ARENA_MAX_DIMS);
  else if (!arena_shape_get_size (shape, n_dims, item_size, &size))
    what = g_strdup_printf ("its shape has more than %" G_GINT64_FORMAT " bytes", G_MAXINT64);
  else if (size > has)
    what = g_strdup_printf ("its shape has %" G_GUINT64_FORMAT " bytes", size);
  else
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
               "A tensor of a buffer of %" G_GSIZE_FORMAT " bytes: %s", has, what);
  return FALSE;
}

static void
fill_tensor (Export        *self,
             ArenaDLTensor *tensor,
             ArenaDType     dtype,
             gsize          n_dims)
{
  *tensor = (ArenaDLTensor) {
    .data = GSIZE_TO_POINTER (arena_device_buffer_get_pointer (self->buffer)),
    .device_type = ARENA_DL_CUDA,
    .device_id = arena_device_buffer_get_device (self->buffer),
    .n_dims = (gint32) n_dims,
    .code = (guint8) ((guint) dtype >> 16),
    .bits = (guint8) ((guint) dtype >> 8),
    .lanes = (guint16) ((guint) dtype & 255),
    .shape = self->shape,
  };
}

/**
 * arena_device_buffer_export_dlpack:
 * @self: a device buffer
 * @dtype: the type of its items
 * @shape: (array length=n_dims): how many items there are in each dimension, in C order
 * @n_dims: how many dimensions there are; at most 32
 * @versioned: whether to return a `DLManagedTensorVersioned` and not a `DLManagedTensor`
 * @error: return location for an error, or `NULL`
 *
 * Describes the buffer to a tensor library, by DLPack.
 *
 * The structure holds a reference on the buffer, which its deleter drops, on any thread. Whoever gets the address has to
 * see to that. What the library does with the memory is not known here: name its stream with
 * [method@Arena.DeviceBuffer.record_stream], and before that, where the buffer may not be filled yet, with
 * [method@Arena.DeviceBuffer.wait_on_stream].
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_ARGUMENT` where the buffer hasn't that many bytes,
 * `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: the address of the structure, or 0 with @error set
 *
 * Since: 0.1
 */
guint64
arena_device_buffer_export_dlpack (ArenaDeviceBuffer *self,
                                   ArenaDType         dtype,
                                   const guint64     *shape,
                                   gsize              n_dims,
                                   gboolean           versioned,
                                   GError           **error)
{
  Export *export;

  g_return_val_if_fail (ARENA_IS_DEVICE_BUFFER (self), 0);
  g_return_val_if_fail (shape != NULL || n_dims == 0, 0);
  g_return_val_if_fail (error == NULL || *error == NULL, 0);

  if (!arena_device_buffer_check (self, error) || !check_shape (self, dtype, shape, n_dims, error))
    return 0;

  export = g_new0 (Export, 1);
  export->buffer = g_object_ref (self);
  export->shape = (gint64 *) g_memdup2 (shape, n_dims * sizeof *shape);
  if (versioned)
    {
      export->versioned = (ArenaDLVersioned) { ARENA_DL_MAJOR, ARENA_DL_MINOR, export, delete_versioned };
      fill_tensor (export, &export->versioned.tensor, dtype, n_dims);
      return GPOINTER_TO_SIZE (&export->versioned);
    }

  export->managed = (ArenaDLManaged) { .context = export, .deleter = delete_managed };
  fill_tensor (export, &export->managed.tensor, dtype, n_dims);
  return GPOINTER_TO_SIZE (&export->managed);
}
