/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-transfer-private.h"

#include "base/arena-error.h"
#include "cuda/arena-copy-job-private.h"
#include "cuda/arena-cuda-kept-private.h"
#include "cuda/arena-cuda-retire-private.h"
#include "cuda/arena-device-buffer-private.h"

#include <stdatomic.h>

/* Sources are collected by one thread, and then run once, perhaps by another: whoever takes the word away from COLLECTING
 * has them. What the copies use is the job's. */

/**
 * ArenaTransfer:
 *
 * Copies bytes of the host to memory of a CUDA device, several at a time.
 *
 * Add views of a unit's fields, or any other bytes, and run it once. Bytes that are pinned, such as views of a pool or ring
 * with `pin-memory`, are read by the device where they are; others are copied to pinned memory first.
 *
 * Whatever happens, what a copy reads or writes is kept until CUDA has said that the copy has ended: the transfer holds
 * the bytes, and with them the unit's place in the arena, also where the caller has dropped them, an error has occurred,
 * or the call was cancelled. Where CUDA can't be made to say so, they go to quarantine: see
 * [method@Arena.CudaContext.retry_quarantine].
 *
 * Each thread has a stream of its own for its transfers, on which nothing else waits.
 *
 * ```c
 * g_autoptr (ArenaTransfer) transfer = arena_transfer_new (context);
 *
 * arena_transfer_add (transfer, bytes, NULL);
 * buffers = arena_transfer_run (transfer, NULL, &error);
 * ```
 *
 * Since: 0.1
 */
struct _ArenaTransfer
{
  GObject           parent_instance;
  ArenaCudaContext *context; /* construct-only, nullable */
  GPtrArray        *sources; /* GBytes */
  _Atomic guint     state;
};

enum
{
  COLLECTING,
  CLAIMED,
};

enum
{
  PROP_CONTEXT = 1,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_FINAL_TYPE (ArenaTransfer, arena_transfer, G_TYPE_OBJECT)

static void
arena_transfer_get_property (GObject    *object,
                             guint       property_id,
                             GValue     *value,
                             GParamSpec *pspec)
{
  if (property_id == PROP_CONTEXT)
    g_value_set_object (value, ARENA_TRANSFER (object)->context);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
arena_transfer_set_property (GObject      *object,
                             guint         property_id,
                             const GValue *value,
                             GParamSpec   *pspec)
{
  if (property_id == PROP_CONTEXT)
    ARENA_TRANSFER (object)->context = g_value_dup_object (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
arena_transfer_finalize (GObject *object)
{
  ArenaTransfer *self = ARENA_TRANSFER (object);

  g_ptr_array_unref (self->sources);
  g_clear_object (&self->context);

  G_OBJECT_CLASS (arena_transfer_parent_class)->finalize (object);
}

static void
arena_transfer_class_init (ArenaTransferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_transfer_get_property;
  object_class->set_property = arena_transfer_set_property;
  object_class->finalize = arena_transfer_finalize;

  /**
   * ArenaTransfer:context:
   *
   * The device to copy to.
   *
   * Since: 0.1
   */
  properties[PROP_CONTEXT] =
    g_param_spec_object ("context", NULL, NULL, ARENA_TYPE_CUDA_CONTEXT,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
arena_transfer_init (ArenaTransfer *self)
{
  self->sources = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
}

/**
 * arena_transfer_new:
 * @context: a context
 *
 * Creates a transfer without any bytes.
 *
 * Returns: (transfer full): the transfer
 *
 * Since: 0.1
 */
ArenaTransfer *
arena_transfer_new (ArenaCudaContext *context)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (context), NULL);

  return g_object_new (ARENA_TYPE_TRANSFER, "context", context, NULL);
}

static void
set_claimed_error (GError **error)
{
  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                       "This transfer was run already; make another one");
}

/**
 * arena_transfer_add:
 * @self: a transfer
 * @bytes: bytes to copy
 * @error: return location for an error, or `NULL`
 *
 * Adds bytes to copy.
 *
 * They must not change until the transfer has ended. One thread at a time. Errors: `ARENA_ERROR_INVALID_STATE` once the
 * transfer was run.
 *
 * Returns: the index of their buffer, or -1 with @error set
 *
 * Since: 0.1
 */
gint
arena_transfer_add (ArenaTransfer *self,
                    GBytes        *bytes,
                    GError       **error)
{
  g_return_val_if_fail (ARENA_IS_TRANSFER (self), -1);
  g_return_val_if_fail (bytes != NULL, -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  if (atomic_load_explicit (&self->state, memory_order_acquire) != COLLECTING)
    {
      set_claimed_error (error);
      return -1;
    }

  g_ptr_array_add (self->sources, g_bytes_ref (bytes));
  return (gint) self->sources->len - 1;
}

gboolean
arena_transfer_claim (ArenaTransfer  *self,
                      GError        **error)
{
  if (self->context == NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "A transfer needs a context");
      return FALSE;
    }
  if (atomic_exchange_explicit (&self->state, CLAIMED, memory_order_acq_rel) == COLLECTING)
    return TRUE;

  set_claimed_error (error);
  return FALSE;
}

/* Enqueues all copies, or gives everything up again. Takes the sources away from the transfer in any case. */
static ArenaCopyJob *
start_job (ArenaTransfer    *self,
           ArenaCudaDevice  *device,
           ArenaCudaScope   *scope,
           GCancellable     *cancellable,
           GError          **error)
{
  g_autoptr(GPtrArray) sources = g_steal_pointer (&self->sources);
  GError *local_error = NULL;
  ArenaCopyJob *job;

  self->sources = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  arena_cuda_device_sweep (device, scope);
  job = arena_copy_job_new (device, scope, error);
  if (job == NULL)
    return NULL;

  for (guint i = 0; i < sources->len && local_error == NULL; i++)
    if (!g_cancellable_set_error_if_cancelled (cancellable, &local_error))
      arena_copy_job_add (job, scope, g_ptr_array_index (sources, i), i, &local_error);
  if (local_error == NULL)
    return job;

  arena_copy_job_drain (job, scope, &local_error);
  g_propagate_error (error, local_error);
  return NULL;
}

/* Takes @memories. */
static GPtrArray *
wrap_memories (ArenaTransfer *self,
               GPtrArray     *memories)
{
  GPtrArray *buffers = g_ptr_array_new_full (memories->len, g_object_unref);
  guint64 stream = arena_cuda_context_get_consumer_stream (self->context);

  for (guint i = 0; i < memories->len; i++)
    {
      ArenaDeviceMemory *memory = g_ptr_array_index (memories, i);

      arena_device_memory_record_stream (memory, stream);
      g_ptr_array_add (buffers, arena_device_buffer_new (memory));
    }

  g_ptr_array_unref (memories);
  return buffers;
}

static GPtrArray *
run (ArenaTransfer  *self,
     gboolean        wait,
     GCancellable   *cancellable,
     GError        **error)
{
  ArenaCudaDevice *device = arena_cuda_device_get (self->context, error);
  GPtrArray *memories = NULL;
  ArenaCudaScope scope;
  ArenaCopyJob *job;

  /* Whoever uses pinned memory cleans up after finalizers. */
  arena_cuda_retire_drain (NULL);
  if (device == NULL || !arena_cuda_device_enter (device, &scope, error))
    return NULL;

  job = start_job (self, device, &scope, cancellable, error);
  if (job != NULL)
    memories = wait ? arena_copy_job_finish (job, &scope, error) : arena_copy_job_detach (job, &scope, error);
  arena_cuda_scope_leave (&scope);
  return memories != NULL ? wrap_memories (self, memories) : NULL;
}

GPtrArray *
arena_transfer_run_claimed (ArenaTransfer  *self,
                            GCancellable   *cancellable,
                            GError        **error)
{
  g_autoptr(GPtrArray) buffers = NULL;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  buffers = run (self, TRUE, cancellable, error);
  if (buffers == NULL || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  return g_steal_pointer (&buffers);
}

/**
 * arena_transfer_run:
 * @self: a transfer
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error, or `NULL`
 *
 * Copies all bytes that were added, and waits for the copies to end.
 *
 * It succeeds as a whole or not at all. Being cancelled stops it before the next copy is started; those that were are
 * waited for.
 *
 * May be called from any thread, once. Errors: `ARENA_CUDA_ERROR_NO_MEMORY` and `ARENA_CUDA_ERROR_COPY`, which name the
 * index of the bytes, `ARENA_CUDA_ERROR_QUARANTINED` where it isn't known whether the copies have ended,
 * `ARENA_CUDA_ERROR_CONTEXT_LOST`, `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE` the second time,
 * `ARENA_ERROR_INVALID_ARGUMENT` without a context, `G_IO_ERROR_CANCELLED`.
 *
 * Returns: (transfer container) (element-type ArenaDeviceBuffer): the buffers, in the order of their bytes, or `NULL`
 *   with @error set
 *
 * Since: 0.1
 */
GPtrArray *
arena_transfer_run (ArenaTransfer *self,
                    GCancellable  *cancellable,
                    GError       **error)
{
  g_return_val_if_fail (ARENA_IS_TRANSFER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return arena_transfer_claim (self, error) ? arena_transfer_run_claimed (self, cancellable, error) : NULL;
}

/**
 * arena_transfer_enqueue:
 * @self: a transfer
 * @error: return location for an error, or `NULL`
 *
 * Starts to copy all bytes that were added, and doesn't wait.
 *
 * Each buffer says itself when it is filled, to the caller and to streams of the device. The transfer's bytes are kept
 * until their copies have ended; that is looked at whenever a transfer is made or pinned memory asked for, so the last ones
 * may be kept for longer. [method@Arena.CudaContext.retry_quarantine] looks, too.
 *
 * May be called from any thread, once. Errors: as of [method@Arena.Transfer.run].
 *
 * Returns: (transfer container) (element-type ArenaDeviceBuffer): the buffers, in the order of their bytes, or `NULL`
 *   with @error set
 *
 * Since: 0.1
 */
GPtrArray *
arena_transfer_enqueue (ArenaTransfer *self,
                        GError       **error)
{
  g_return_val_if_fail (ARENA_IS_TRANSFER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return arena_transfer_claim (self, error) ? run (self, FALSE, NULL, error) : NULL;
}
