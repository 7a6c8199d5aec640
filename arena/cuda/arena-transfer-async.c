/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-transfer-private.h"

#include <pthread.h>

/* CUDA has no way to wait for a copy beside a main loop: it is waited for in a thread of GLib's pool. ThreadSanitizer
 * doesn't see how a task goes there and comes back, so it passes through a lock of ours. */

static pthread_mutex_t handover = PTHREAD_MUTEX_INITIALIZER;

static void
pass_handover (void)
{
  pthread_mutex_lock (&handover);
  pthread_mutex_unlock (&handover);
}

static void
run_in_thread (GTask        *task,
               gpointer      source,
               gpointer      task_data,
               GCancellable *cancellable)
{
  GError *error = NULL;
  GPtrArray *buffers;

  pass_handover ();
  buffers = arena_transfer_run_claimed (source, cancellable, &error);
  pass_handover ();
  if (buffers != NULL)
    g_task_return_pointer (task, buffers, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

/**
 * arena_transfer_run_async:
 * @self: a transfer
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called in the thread-default main context of the caller when the copies have ended
 * @user_data: for @callback
 *
 * Copies all bytes that were added: see [method@Arena.Transfer.run].
 *
 * Never blocks: another thread does it.
 *
 * Since: 0.1
 */
void
arena_transfer_run_async (ArenaTransfer       *self,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  GError *error = NULL;

  g_return_if_fail (ARENA_IS_TRANSFER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_transfer_run_async);
  if (!arena_transfer_claim (self, &error))
    {
      g_task_return_error (task, error);
      return;
    }

  pass_handover ();
  g_task_run_in_thread (task, run_in_thread);
}

/**
 * arena_transfer_run_finish:
 * @self: a transfer
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Transfer.run_async].
 *
 * Errors: as of [method@Arena.Transfer.run].
 *
 * Returns: (transfer full) (element-type ArenaDeviceBuffer): the buffers, in the order of their bytes, or `NULL` with
 *   @error set
 *
 * Since: 0.1
 */
GPtrArray *
arena_transfer_run_finish (ArenaTransfer *self,
                           GAsyncResult  *result,
                           GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  pass_handover ();
  return g_task_propagate_pointer (G_TASK (result), error);
}
