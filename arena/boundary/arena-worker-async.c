/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-worker-private.h"

/* Starting a process takes a moment and waits for nobody, so it is done here; the interface's own way would be a thread. */
static void
arena_worker_init_async (GAsyncInitable      *initable,
                         int                  io_priority,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (initable, cancellable, callback, user_data);
  GError *error = NULL;

  g_task_set_source_tag (task, arena_worker_init_async);
  g_task_set_priority (task, io_priority);
  /* What has been started is handed over, even where it is no longer wanted. */
  g_task_set_check_cancellable (task, FALSE);
  if (g_task_return_error_if_cancelled (task))
    return;

  if (g_initable_init (G_INITABLE (initable), cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static gboolean
arena_worker_init_finish (GAsyncInitable  *initable,
                          GAsyncResult    *result,
                          GError         **error)
{
  g_return_val_if_fail (g_task_is_valid (result, initable), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

void
arena_worker_async_initable_iface_init (GAsyncInitableIface *iface)
{
  iface->init_async = arena_worker_init_async;
  iface->init_finish = arena_worker_init_finish;
}

/**
 * arena_worker_new_async:
 * @backend: a pool or a ring that no boundary has taken over yet
 * @argv: (array zero-terminated=1): the program, looked up in `PATH`, and its arguments
 * @buffer_size: how many units may be queued, at least 1
 * @io_priority: the priority of the callback's source
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called in the thread-default main context of the caller when the worker was started
 * @user_data: for @callback
 *
 * Starts a worker and takes @backend over: see [ctor@Arena.Worker.new].
 *
 * The process is started before this returns, without a thread; only its answer is not waited for, here as there.
 *
 * Since: 0.1
 */
void
arena_worker_new_async (ArenaBackend         *backend,
                        const char * const   *argv,
                        guint                 buffer_size,
                        int                   io_priority,
                        GCancellable         *cancellable,
                        GAsyncReadyCallback   callback,
                        gpointer              user_data)
{
  g_return_if_fail (ARENA_IS_BACKEND (backend));
  g_return_if_fail (argv != NULL);
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  g_async_initable_new_async (ARENA_TYPE_WORKER, io_priority, cancellable, callback, user_data, "backend", backend,
                              "argv", argv, "buffer-size", buffer_size, NULL);
}

/**
 * arena_worker_new_finish:
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [func@Arena.Worker.new_async].
 *
 * Errors: as of [ctor@Arena.Worker.new], and `G_IO_ERROR_CANCELLED`, after which @backend is as it was.
 *
 * Returns: (transfer full): the worker, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaWorker *
arena_worker_new_finish (GAsyncResult  *result,
                         GError       **error)
{
  g_autoptr(GObject) source = NULL;
  GObject *worker;

  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  source = g_async_result_get_source_object (result);
  worker = g_async_initable_new_finish (G_ASYNC_INITABLE (source), result, error);
  return worker != NULL ? ARENA_WORKER (worker) : NULL;
}
