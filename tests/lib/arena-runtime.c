/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-runtime.h"

ArenaTestRuntime arena_test_runtime = { .refuse_from = G_MAXUINT };

int
arena_test_runtime_fail (int status)
{
  if (status != 0)
    arena_test_runtime.last_error = status;
  return status;
}

static const char *
get_text (int status)
{
  return status == ARENA_CUDA_STATUS_MEMORY_ALLOCATION ? "cudaErrorMemoryAllocation" : "cudaErrorOther";
}

static int
get_last_error (void)
{
  int status = arena_test_runtime.last_error;

  arena_test_runtime.last_error = 0;
  return status;
}

static int
peek_last_error (void)
{
  return arena_test_runtime.last_error;
}

static int
get_device (int *device)
{
  *device = arena_test_runtime.device;
  return 0;
}

static int
set_device (int device)
{
  if (device > 1)
    return arena_test_runtime_fail (101);

  arena_test_runtime.device = device;
  return 0;
}

static int
exchange_mode (int *mode)
{
  int mine = arena_test_runtime.capture_mode;

  if (arena_test_runtime.refuse_mode)
    return arena_test_runtime_fail (1);

  arena_test_runtime.capture_mode = *mode;
  *mode = mine;
  return 0;
}

static int
register_range (gpointer pointer,
                gsize    size,
                guint    flags)
{
  if (arena_test_runtime.n_registered >= arena_test_runtime.refuse_from)
    return arena_test_runtime_fail (ARENA_CUDA_STATUS_INVALID_VALUE);

  arena_test_runtime.n_registered++;
  return 0;
}

static int
unregister_range (gpointer pointer)
{
  arena_test_runtime.n_registered--;
  return 0;
}

const ArenaCudaRuntime *
arena_test_runtime_get (void)
{
  static const ArenaCudaRuntime runtime = {
    .api = {
      .cudaGetErrorName = get_text,
      .cudaGetErrorString = get_text,
      .cudaGetLastError = get_last_error,
      .cudaPeekAtLastError = peek_last_error,
      .cudaGetDevice = get_device,
      .cudaSetDevice = set_device,
      .cudaThreadExchangeStreamCaptureMode = exchange_mode,
      .cudaHostRegister = register_range,
      .cudaHostUnregister = unregister_range,
    },
  };

  return &runtime;
}
