/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

/**
 * ARENA_CUDA_ERROR:
 *
 * The error domain of what pins memory for a CUDA device or copies to one. Errors in it are [error@Arena.CudaError].
 *
 * Since: 0.1
 */
#define ARENA_CUDA_ERROR (arena_cuda_error_quark ())

/**
 * ArenaCudaError:
 * @ARENA_CUDA_ERROR_UNAVAILABLE: Install the CUDA runtime library, or name one in `ARENA_CUDART`: none could be used.
 * @ARENA_CUDA_ERROR_NO_DRIVER: Install or update the NVIDIA driver: there is none, or one too old for the runtime
 *   library.
 * @ARENA_CUDA_ERROR_NO_DEVICE: Make a device visible or free: there is none that this process can use.
 * @ARENA_CUDA_ERROR_BAD_RANK: Correct `LOCAL_RANK`, or the number given: it names no device. The message has how many
 *   there are.
 * @ARENA_CUDA_ERROR_FORKED: Start processes by spawning: this one was forked after CUDA was initialised.
 * @ARENA_CUDA_ERROR_NOT_SUPPORTED: Choose another way: this device or driver can't do it.
 * @ARENA_CUDA_ERROR_NO_MEMORY: Ask for less, or raise the limit that the message names. Nothing was pinned.
 * @ARENA_CUDA_ERROR_ALREADY_REGISTERED: Take the other registration back first: something else in this process has
 *   pinned a part of the same memory.
 * @ARENA_CUDA_ERROR_REGISTER: Look into the message, or do without pinning: CUDA refused the memory.
 * @ARENA_CUDA_ERROR_UNREGISTER: Close again: the memory is still pinned, and still mapped.
 * @ARENA_CUDA_ERROR_COPY: Look into the message: something that a transfer needs failed. Nothing was lost.
 * @ARENA_CUDA_ERROR_QUARANTINED: Retry later: it isn't known that a copy has ended, so all it uses is kept.
 * @ARENA_CUDA_ERROR_CONTEXT_LOST: End the process: an earlier error has broken the device's context, and what was pinned
 *   stays so until then.
 * @ARENA_CUDA_ERROR_UNLOADING: Nothing: the process is exiting, and the kernel takes back what was pinned.
 *
 * Says what the caller can do about a failure of CUDA.
 *
 * Each code stands for one action, not for one cause; the message has the function, CUDA's name and number for the
 * cause, what it was about, and the device. A cancelled call is `G_IO_ERROR_CANCELLED`.
 *
 * This enumeration may grow: treat a code that you don't know as final.
 *
 * Since: 0.1
 */
typedef enum
{
  ARENA_CUDA_ERROR_UNAVAILABLE,
  ARENA_CUDA_ERROR_NO_DRIVER,
  ARENA_CUDA_ERROR_NO_DEVICE,
  ARENA_CUDA_ERROR_BAD_RANK,
  ARENA_CUDA_ERROR_FORKED,
  ARENA_CUDA_ERROR_NOT_SUPPORTED,
  ARENA_CUDA_ERROR_NO_MEMORY,
  ARENA_CUDA_ERROR_ALREADY_REGISTERED,
  ARENA_CUDA_ERROR_REGISTER,
  ARENA_CUDA_ERROR_UNREGISTER,
  ARENA_CUDA_ERROR_COPY,
  ARENA_CUDA_ERROR_QUARANTINED,
  ARENA_CUDA_ERROR_CONTEXT_LOST,
  ARENA_CUDA_ERROR_UNLOADING,
} ArenaCudaError;

ARENA_AVAILABLE_IN_0_1
GQuark arena_cuda_error_quark (void);

G_END_DECLS
