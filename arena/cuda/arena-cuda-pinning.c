/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-pin-private.h"
#include "cuda/arena-cuda-retire-private.h"
#include "memory/arena-limits-private.h"
#include "memory/arena-pin-private.h"
#include "memory/arena-pin-table-private.h"

/* What memory/ and those that build on it know of pinning a pool: see arena-pin-private.h there. What can be known before
 * CUDA registers anything is checked first, with numbers. */

/* Drivers from R580 on fail above it. */
#define PIECE_LIMIT (G_GUINT64_CONSTANT (512) << 30)

/* What memory says about itself, as it concerns pinning. */
static gboolean
take_memory_error (GError  *local_error,
                   GError **error)
{
  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY,
               "Pinning needs all of the arena in memory: %s; %s", local_error->message,
               arena_cuda_error_get_advice (ARENA_CUDA_ERROR_NO_MEMORY));
  g_error_free (local_error);
  return FALSE;
}

static gboolean
check_device (gboolean  writable,
              GError  **error)
{
  ArenaCudaContext *context = arena_cuda_context_get_default (error);
  const char *missing = NULL;

  if (context == NULL)
    return FALSE;

  if (!context->can_register)
    missing = "memory that it didn't allocate";
  else if (!writable && !context->can_register_read_only)
    missing = "memory that this process can only read, as that of a read-only pool";
  if (missing == NULL)
    return TRUE;

  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED,
               "Device %d and its driver can't pin %s; %s", context->device, missing,
               arena_cuda_error_get_advice (ARENA_CUDA_ERROR_NOT_SUPPORTED));
  return FALSE;
}

gboolean
arena_pin_check (gboolean   writable,
                 gsize      size,
                 gsize      piece,
                 GError   **error)
{
  GError *local_error = NULL;

  if (piece >= PIECE_LIMIT)
    {
      g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED,
                   "A segment of %" G_GSIZE_FORMAT " bytes can't be pinned: it must be smaller than %" G_GUINT64_FORMAT
                   " bytes; make more and smaller segments", piece, PIECE_LIMIT);
      return FALSE;
    }

  if (!check_device (writable, error))
    return FALSE;

  if (!arena_limits_check_pinned (size, arena_pin_table_measure (NULL, G_MAXSIZE, NULL), NULL, &local_error))
    return take_memory_error (local_error, error);

  return TRUE;
}

/* What is registered and shouldn't be is noted, for the next one who comes by. */
static void
settle (ArenaCudaPin *pin,
        gboolean      success)
{
  if (!success && arena_cuda_pin_count (pin) > 0)
    arena_cuda_retire_note (pin);
  else
    arena_cuda_retire_forget (pin);
}

gboolean
arena_pin_mapping (ArenaMapping  *mapping,
                   gsize          piece,
                   GError       **error)
{
  ArenaCudaContext *context = arena_cuda_context_get_default (error);
  GError *local_error = NULL;
  ArenaCudaPin *pin;
  gboolean success;

  if (context == NULL)
    return FALSE;

  if (!arena_mapping_populate (mapping, &local_error))
    return take_memory_error (local_error, error);

  /* The first try makes it; all come from one thread, that of the only reader. */
  pin = arena_mapping_get_retire_data (mapping);
  if (pin == NULL)
    pin = arena_cuda_pin_new (mapping, piece, context);
  success = arena_cuda_pin_acquire (pin, error);
  settle (pin, success);
  return success;
}

gboolean
arena_pin_release (ArenaMapping  *mapping,
                   GError       **error)
{
  ArenaCudaPin *pin = arena_mapping_get_retire_data (mapping);
  gboolean success;

  if (pin == NULL)
    return TRUE;

  atomic_store_explicit (&pin->wanted, FALSE, memory_order_relaxed);
  success = arena_cuda_pin_release (pin, error);
  settle (pin, success);
  return success;
}
