/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-api-private.h"
#include "cuda/arena-cuda-error-private.h"

G_BEGIN_DECLS

/* The CUDA runtime library, opened when somebody asks for it and never closed. */
typedef struct
{
  ArenaCudaApi api;
  const char  *path;
  int          version;        /* as CUDA counts: 13000 is 13.0 */
  int          driver_version;
} ArenaCudaRuntime;

/* The library this process uses. Opens it at the first call that succeeds, which initialises nothing: a process may still
 * fork. UNAVAILABLE, NO_DRIVER. Any thread. */
const ArenaCudaRuntime *arena_cuda_runtime_open          (GError                 **error);

/* How many devices there are, at least 1. Initialises the driver: a child of this process can't use CUDA from here on.
 * NO_DRIVER, NO_DEVICE, FORKED. Any thread. */
gboolean                arena_cuda_runtime_count_devices (const ArenaCudaRuntime  *self,
                                                          int                     *count,
                                                          GError                 **error);

/* FORKED in a child of the process that initialised. First of all in every entry: nothing after it is of use there. */
gboolean                arena_cuda_runtime_check_fork    (GError                 **error);

/* What ARENA_CUDART says, or NULL where a @secure process (one with more rights than its user) must not listen to it. */
const char             *arena_cuda_runtime_get_override  (gboolean                 secure);

G_END_DECLS
