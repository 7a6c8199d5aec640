/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-retire-private.h"

#include "memory/arena-fork-private.h"

/* One list under one lock, which is held across no call of CUDA: drain() takes what is there, tries each, and puts back
 * what it could not resolve. What belongs to the list stays marked meanwhile, so that a last reference dropped at the same
 * time only notes that it was; whoever drains frees it.
 *
 * A forked child of a process that uses CUDA never touches the lock: every entry is FORKED before that, and its copy of a
 * mapping is unmapped, for what is registered is so on its parent's behalf. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *list;

/* Locked. */
static void
put (ArenaCudaPin *pin)
{
  if (list == NULL)
    list = g_ptr_array_new ();
  g_ptr_array_add (list, pin);
  pin->listed = TRUE;
}

void
arena_cuda_retire (ArenaMapping *mapping)
{
  ArenaCudaPin *pin = arena_mapping_get_retire_data (mapping);
  gboolean unmap;

  if (!arena_fork_is_current (pin->generation))
    {
      arena_cuda_pin_free (pin);
      return;
    }

  atomic_store_explicit (&pin->wanted, FALSE, memory_order_relaxed);
  pthread_mutex_lock (&mutex);
  unmap = !pin->listed && arena_cuda_pin_count (pin) == 0;
  pin->retired = TRUE;
  if (!unmap && !pin->listed)
    put (pin);
  pthread_mutex_unlock (&mutex);

  if (unmap)
    arena_cuda_pin_free (pin);
}

void
arena_cuda_retire_note (ArenaCudaPin *pin)
{
  pthread_mutex_lock (&mutex);
  if (!pin->listed)
    put (pin);
  pthread_mutex_unlock (&mutex);
}

void
arena_cuda_retire_forget (ArenaCudaPin *pin)
{
  pthread_mutex_lock (&mutex);
  /* Where somebody is draining it isn't there, and they will see. */
  if (pin->listed && list != NULL && g_ptr_array_remove_fast (list, pin))
    pin->listed = FALSE;
  pthread_mutex_unlock (&mutex);
}

/* After one try. Takes @failure, which is NULL for success. */
static void
settle (ArenaCudaPin *pin,
        GError       *failure,
        GError      **error)
{
  gboolean unmap;

  pthread_mutex_lock (&mutex);
  pin->listed = FALSE;
  unmap = pin->retired && arena_cuda_pin_count (pin) == 0;
  /* It may have been wanted when it was tried, and retired since. */
  if (arena_cuda_pin_count (pin) > 0 && (failure != NULL || pin->retired))
    put (pin);
  pthread_mutex_unlock (&mutex);

  if (unmap)
    arena_cuda_pin_free (pin);
  if (failure == NULL)
    return;

  if (error != NULL && *error == NULL)
    g_propagate_error (error, failure);
  else
    g_error_free (failure);
}

gboolean
arena_cuda_retire_drain (GError **error)
{
  g_autoptr(GPtrArray) taken = NULL;
  GError *first = NULL;

  if (!arena_cuda_runtime_check_fork (error))
    return FALSE;

  pthread_mutex_lock (&mutex);
  taken = g_steal_pointer (&list);
  pthread_mutex_unlock (&mutex);

  for (guint i = 0; taken != NULL && i < taken->len; i++)
    {
      GError *failure = NULL;

      arena_cuda_pin_release (g_ptr_array_index (taken, i), &failure);
      settle (g_ptr_array_index (taken, i), failure, &first);
    }

  if (first == NULL)
    return TRUE;

  g_propagate_error (error, first);
  return FALSE;
}

void
arena_cuda_retire_measure (guint   *n,
                           guint64 *bytes)
{
  guint count = 0;
  guint64 sum = 0;

  if (arena_cuda_runtime_check_fork (NULL))
    {
      pthread_mutex_lock (&mutex);
      for (guint i = 0; list != NULL && i < list->len; i++)
        {
          const ArenaCudaPin *pin = g_ptr_array_index (list, i);

          count++;
          sum += arena_cuda_pin_count (pin) * pin->piece;
        }
      pthread_mutex_unlock (&mutex);
    }

  if (n != NULL)
    *n = count;
  if (bytes != NULL)
    *bytes = sum;
}
