/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-device-private.h"

#include "base/arena-error.h"
#include "cuda/arena-pinned-cache-private.h"

/* Set once, by compare and swap: the loser of a race has made no call of CUDA, and frees what it made. */

#define STAGING_BYTES (G_GUINT64_CONSTANT (256) << 20)

static ArenaCudaDevice *
create_device (ArenaCudaContext *context)
{
  ArenaCudaDevice *self = g_new0 (ArenaCudaDevice, 1);

  self->context = context;
  self->number = context->device;
  self->staging = arena_pinned_cache_new (self, STAGING_BYTES);
  pthread_mutex_init (&self->mutex, NULL);
  pthread_mutex_init (&self->sweeping, NULL);
  self->idle_streams = g_ptr_array_new ();
  self->idle_events = g_ptr_array_new ();
  g_queue_init (&self->kept);
  return self;
}

static void
destroy_device (ArenaCudaDevice *self)
{
  arena_pinned_cache_unref (self->staging);
  pthread_mutex_destroy (&self->mutex);
  pthread_mutex_destroy (&self->sweeping);
  g_ptr_array_unref (self->idle_streams);
  g_ptr_array_unref (self->idle_events);
  g_free (self);
}

ArenaCudaDevice *
arena_cuda_device_peek (ArenaCudaContext *context)
{
  return atomic_load_explicit (&context->work, memory_order_acquire);
}

ArenaCudaDevice *
arena_cuda_device_get (ArenaCudaContext *context,
                       GError          **error)
{
  gpointer present = arena_cuda_device_peek (context);
  ArenaCudaDevice *self;

  if (!arena_cuda_runtime_check_fork (error))
    return NULL;
  if (present != NULL)
    return present;
  if (context->runtime == NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                           "This context was constructed by hand; get_default() and get_for_device() return one");
      return NULL;
    }

  self = create_device (context);
  if (atomic_compare_exchange_strong_explicit (&context->work, &present, self,
                                               memory_order_acq_rel, memory_order_acquire))
    return self;

  destroy_device (self);
  return present;
}

gboolean
arena_cuda_device_enter (const ArenaCudaDevice  *self,
                         ArenaCudaScope         *scope,
                         GError                **error)
{
  return arena_cuda_context_enter (self->context, scope, error);
}
