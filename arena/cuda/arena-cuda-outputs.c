/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-error-private.h"
#include "memory/arena-pin-private.h"

ArenaOutputs *
arena_pin_outputs_new (gsize    keep_bytes,
                       GError **error)
{
  g_set_error_literal (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED,
                       "This version can't pin the copies of a ring; use a pool");
  return NULL;
}
