/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-call-private.h"

/* Current device, last error and capture mode are per thread, so a scope needs no lock. The last error is taken away only
 * where none was pending before: the one that the host program waits for must not vanish. */

gboolean
arena_cuda_scope_check (ArenaCudaScope  *self,
                        int              status,
                        const char      *function,
                        ArenaCudaError   fallback,
                        const char      *what,
                        GError         **error)
{
  g_autofree char *where = NULL;
  ArenaCudaError code;

  self->status = status;
  if (G_LIKELY (status == ARENA_CUDA_STATUS_SUCCESS))
    return TRUE;

  if (!self->foreign)
    self->api->cudaGetLastError ();
  if (status == ARENA_CUDA_STATUS_NOT_READY)
    return FALSE;

  code = arena_cuda_error_from_status (status, fallback);
  where = self->device >= 0 ? g_strdup_printf (" on device %d", self->device) : g_strdup ("");
  g_set_error (error, ARENA_CUDA_ERROR, (int) code,
               "%s: %s: %s (%d)%s: %s; %s", function, what, self->api->cudaGetErrorName (status), status, where,
               self->api->cudaGetErrorString (status), arena_cuda_error_get_advice (code));
  return FALSE;
}

static gboolean
make_current (ArenaCudaScope  *self,
              GError         **error)
{
  if (self->device == ARENA_CUDA_ANY_DEVICE)
    return TRUE;

  if (!arena_cuda_call (self, ARENA_CUDA_ERROR_NO_DEVICE, error, "the caller's device",
                        cudaGetDevice, (&self->caller_device)))
    return FALSE;

  return self->caller_device == self->device ||
         arena_cuda_call (self, ARENA_CUDA_ERROR_NO_DEVICE, error, "to make it current",
                          cudaSetDevice, (self->device));
}

static gboolean
exchange_mode (ArenaCudaScope *self)
{
  return arena_cuda_call (self, ARENA_CUDA_ERROR_NO_DEVICE, NULL, "capture mode",
                          cudaThreadExchangeStreamCaptureMode, (&self->caller_mode));
}

gboolean
arena_cuda_scope_enter (ArenaCudaScope          *self,
                        const ArenaCudaRuntime  *runtime,
                        int                      device,
                        GError                 **error)
{
  if (!arena_cuda_runtime_check_fork (error))
    return FALSE;

  *self = (ArenaCudaScope) {
    .runtime = runtime,
    .api = &runtime->api,
    .device = device,
    .caller_device = device,
    .caller_mode = ARENA_CUDA_CAPTURE_RELAXED,
    .foreign = runtime->api.cudaPeekAtLastError () != ARENA_CUDA_STATUS_SUCCESS,
  };
  if (!make_current (self, error))
    return FALSE;

  self->exchanged = exchange_mode (self);
  return TRUE;
}

void
arena_cuda_scope_leave (ArenaCudaScope *self)
{
  if (self->exchanged)
    exchange_mode (self);
  if (self->caller_device != self->device)
    arena_cuda_call (self, ARENA_CUDA_ERROR_NO_DEVICE, NULL, "the caller's device", cudaSetDevice,
                     (self->caller_device));
}
