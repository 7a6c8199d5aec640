/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-transfer-private.h"

#include "base/arena-error-private.h"

#include <errno.h>
#include <glib-unix.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* CUDA has no way to wait for a copy beside a main loop, so each call waits in a thread of its own. The thread has the run
 * until it has written to the descriptor; then the caller's context joins it and has the run again. */

typedef struct
{
  GTask     *task;
  int        fd;
  pthread_t  thread;
  GPtrArray *buffers;
  GError    *error;
} Run;

static void
free_run (Run *run)
{
  g_object_unref (run->task);
  close (run->fd);
  g_free (run);
}

static gpointer
wait_in_thread (gpointer data)
{
  Run *run = data;
  ArenaTransfer *transfer = g_task_get_source_object (run->task);

  run->buffers = arena_transfer_run_claimed (transfer, g_task_get_cancellable (run->task), &run->error);
  eventfd_write (run->fd, 1);
  return NULL;
}

static gboolean
return_run (int          fd,
            GIOCondition condition,
            gpointer     data)
{
  Run *run = data;

  pthread_join (run->thread, NULL);
  if (run->buffers != NULL)
    g_task_return_pointer (run->task, run->buffers, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (run->task, run->error);
  free_run (run);
  return G_SOURCE_REMOVE;
}

static gboolean
start_thread (Run     *run,
              GError **error)
{
  int saved_errno;

  run->fd = eventfd (0, EFD_CLOEXEC);
  if (run->fd < 0)
    {
      arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, errno, "eventfd", "the end of a transfer");
      return FALSE;
    }

  saved_errno = pthread_create (&run->thread, NULL, wait_in_thread, run);
  if (saved_errno == 0)
    return TRUE;

  arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, saved_errno, "pthread_create", "a transfer");
  close (run->fd);
  return FALSE;
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
 * Never blocks: a thread that is made for it does.
 *
 * Since: 0.1
 */
void
arena_transfer_run_async (ArenaTransfer       *self,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_autoptr(GSource) source = NULL;
  GError *error = NULL;
  GTask *task;
  Run *run;

  g_return_if_fail (ARENA_IS_TRANSFER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_transfer_run_async);
  run = g_new0 (Run, 1);
  run->task = task;
  if (!arena_transfer_claim (self, &error) || !start_thread (run, &error))
    {
      g_task_return_error (task, error);
      g_object_unref (task);
      g_free (run);
      return;
    }

  source = g_unix_fd_source_new (run->fd, G_IO_IN);
  g_source_set_priority (source, g_task_get_priority (task));
  g_source_set_callback (source, G_SOURCE_FUNC (return_run), run, NULL);
  g_source_attach (source, g_task_get_context (task));
}

/**
 * arena_transfer_run_finish:
 * @self: a transfer
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Transfer.run_async].
 *
 * Errors: as of [method@Arena.Transfer.run], and `ARENA_ERROR_NO_SPACE` where no thread or descriptor can be had.
 *
 * Returns: (transfer container) (element-type ArenaDeviceBuffer): the buffers, in the order of their bytes, or `NULL`
 *   with @error set
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

  return g_task_propagate_pointer (G_TASK (result), error);
}
