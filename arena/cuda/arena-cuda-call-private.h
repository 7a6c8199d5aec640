/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-runtime-private.h"

G_BEGIN_DECLS

/* A stretch of calls on one device and thread, which leaves no trace for the code around it: the caller's device is
 * current again afterwards, no error of ours is left for its next launch to fail with, and a graph that another thread
 * captures isn't broken by calls that aren't allowed then.
 *
 * On the stack:
 *
 *   if (!arena_cuda_scope_enter (&scope, runtime, device, &error))
 *     return FALSE;
 *   success = arena_cuda_call (&scope, ARENA_CUDA_ERROR_COPY, &error, "field 3", cudaFree, (pointer));
 *   arena_cuda_scope_leave (&scope);
 */
#define ARENA_CUDA_ANY_DEVICE -1 /* calls that don't care which one is current, which makes none so */

typedef struct
{
  const ArenaCudaRuntime *runtime;
  const ArenaCudaApi     *api;     /* the runtime's */
  int                     device;  /* current inside */
  int                     status;  /* of the call before */
  int                     caller_device;
  int                     caller_mode;
  gboolean                exchanged; /* the capture mode */
  gboolean                foreign; /* an error that isn't ours was pending, and isn't taken away */
} ArenaCudaScope;

/* Any thread. FORKED, and what making the device current says. Nothing to leave where it fails. */
gboolean arena_cuda_scope_enter (ArenaCudaScope          *self,
                                 const ArenaCudaRuntime  *runtime,
                                 int                      device,
                                 GError                 **error);
void     arena_cuda_scope_leave (ArenaCudaScope          *self);

/* Judges what a call returned: TRUE for success. Else takes CUDA's last error away again, and sets one that says the
 * function, what it was about, CUDA's name and number, the device and what to do; @fallback is the code where the status
 * has none of its own. With ARENA_CUDA_STATUS_NOT_READY, which is no error, none is set. */
gboolean arena_cuda_scope_check (ArenaCudaScope          *self,
                                 int                      status,
                                 const char              *function,
                                 ArenaCudaError           fallback,
                                 const char              *what,
                                 GError                 **error);

/* Calls @function with @arguments, in parentheses. */
#define arena_cuda_call(scope, fallback, error, what, function, arguments) \
  arena_cuda_scope_check ((scope), (scope)->api->function arguments, #function, (fallback), (what), (error))

G_END_DECLS
