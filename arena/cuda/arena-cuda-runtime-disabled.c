/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-runtime-private.h"

/* In place of arena-cuda-runtime.c with -Dcuda=disabled: the same calls are there, and say so. */

const ArenaCudaRuntime *
arena_cuda_runtime_open (GError **error)
{
  g_set_error_literal (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE,
                       "This library was built without CUDA (-Dcuda=disabled)");
  return NULL;
}

gboolean
arena_cuda_runtime_count_devices (const ArenaCudaRuntime  *self,
                                  int                     *count,
                                  GError                 **error)
{
  g_return_val_if_reached (FALSE);
}

gboolean
arena_cuda_runtime_check_fork (GError **error)
{
  return TRUE;
}

const char *
arena_cuda_runtime_get_override (gboolean secure)
{
  return NULL;
}
