/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-error.h"

#include "cuda/arena-cuda-api-private.h"
#include "cuda/arena-cuda-error-private.h"

/* The one place where a status of CUDA becomes a code. */

/**
 * arena_cuda_error_quark:
 *
 * Gets the error domain of what pins memory for a CUDA device or copies to one.
 *
 * Returns: the quark
 *
 * Since: 0.1
 */
G_DEFINE_QUARK (arena-cuda-error-quark, arena_cuda_error)

gboolean
arena_cuda_error_is_sticky (int status)
{
  switch (status)
    {
    case 214: /* uncorrectable memory */
    case 700: /* illegal address */
    case 702: /* launch timeout */
    case 709: /* context destroyed */
    case 710: /* device-side assertion */
    case 714: /* hardware stack */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* invalid address space */
    case 718: /* invalid program counter */
    case 719: /* launch failure */
    case 720: /* cooperative launch too large */
    case 999: /* unknown */
      return TRUE;
    default:
      return FALSE;
    }
}

ArenaCudaError
arena_cuda_error_from_status (int            status,
                              ArenaCudaError fallback)
{
  switch (status)
    {
    case ARENA_CUDA_STATUS_MEMORY_ALLOCATION:
      return ARENA_CUDA_ERROR_NO_MEMORY;
    /* What a child gets whose parent had initialised CUDA before it forked. */
    case ARENA_CUDA_STATUS_INITIALIZATION_ERROR:
      return ARENA_CUDA_ERROR_FORKED;
    case ARENA_CUDA_STATUS_UNLOADING:
      return ARENA_CUDA_ERROR_UNLOADING;
    case ARENA_CUDA_STATUS_STUB_LIBRARY:
    case ARENA_CUDA_STATUS_INSUFFICIENT_DRIVER:
      return ARENA_CUDA_ERROR_NO_DRIVER;
    case ARENA_CUDA_STATUS_DEVICES_UNAVAILABLE:
    case ARENA_CUDA_STATUS_NO_DEVICE:
    case ARENA_CUDA_STATUS_INVALID_DEVICE:
      return ARENA_CUDA_ERROR_NO_DEVICE;
    case ARENA_CUDA_STATUS_ALREADY_REGISTERED:
      return ARENA_CUDA_ERROR_ALREADY_REGISTERED;
    case ARENA_CUDA_STATUS_NOT_SUPPORTED:
      return ARENA_CUDA_ERROR_NOT_SUPPORTED;
    default:
      return arena_cuda_error_is_sticky (status) ? ARENA_CUDA_ERROR_CONTEXT_LOST : fallback;
    }
}

const char *
arena_cuda_error_get_advice (ArenaCudaError code)
{
  switch (code)
    {
    case ARENA_CUDA_ERROR_UNAVAILABLE:
      return "install the CUDA runtime library, or name one in ARENA_CUDART";
    case ARENA_CUDA_ERROR_NO_DRIVER:
      return "install or update the NVIDIA driver, and keep the toolkit's stub of libcuda out of the library path";
    case ARENA_CUDA_ERROR_NO_DEVICE:
      return "check CUDA_VISIBLE_DEVICES and who else uses the device";
    case ARENA_CUDA_ERROR_BAD_RANK:
      return "correct LOCAL_RANK or the number of the device";
    case ARENA_CUDA_ERROR_FORKED:
      return "CUDA doesn't survive fork(): use spawn";
    case ARENA_CUDA_ERROR_NOT_SUPPORTED:
      return "do without it on this device and driver";
    case ARENA_CUDA_ERROR_NO_MEMORY:
      return "ask for less, or free memory (WSL and containers limit what can be pinned)";
    case ARENA_CUDA_ERROR_ALREADY_REGISTERED:
      return "let whatever else pins this memory take that back first";
    case ARENA_CUDA_ERROR_REGISTER:
      return "do without pinning";
    case ARENA_CUDA_ERROR_UNREGISTER:
      return "it stays pinned and mapped: close again";
    case ARENA_CUDA_ERROR_COPY:
      return "try again, or copy without a transfer";
    case ARENA_CUDA_ERROR_QUARANTINED:
      return "all it uses is kept: retry later";
    case ARENA_CUDA_ERROR_CONTEXT_LOST:
      return "the device's context is lost: end the process";
    case ARENA_CUDA_ERROR_UNLOADING:
      return "the process is exiting";
    default:
      g_return_val_if_reached ("");
    }
}

void
arena_cuda_error_append (GError **error,
                         GError  *second)
{
  char *message;

  if (second == NULL)
    return;

  if (error == NULL || *error == NULL)
    {
      g_propagate_error (error, second);
      return;
    }

  message = g_strdup_printf ("%s; and then %s", (*error)->message, second->message);
  g_free ((*error)->message);
  (*error)->message = message;
  g_error_free (second);
}
