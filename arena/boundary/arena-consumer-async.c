/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include <glib-unix.h>

#include "base/arena-error-private.h"
#include "boundary/arena-async-private.h"
#include "sync/arena-timing-private.h"

/* The asynchronous twins: each is its synchronous try, repeated when arena-async.c says that something may have changed.
 * While one is under way the endpoint is entered, as during a synchronous wait.
 */

static GError *
leave (gpointer object,
       GError  *error)
{
  return arena_consumer_leave (object, error);
}

/* Enters for @task; FALSE once it has been returned with an error. */
static gboolean
begin (ArenaConsumer *self,
       GTask         *task,
       gint64         timeout)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  GError *error = NULL;

  if (!arena_timeout_check (timeout, &error) || !arena_consumer_enter (self, &error))
    {
      g_task_return_error (task, error);
      return FALSE;
    }

  arena_starvation_reset (&priv->starvation, timeout == 0);
  priv->asynchronous = TRUE;
  priv->status_until = 0;
  return TRUE;
}

/* Sources on the end of the worker's process. */

#define LOOK_INTERVAL_US 5000

typedef void (*Step) (GTask *task);

typedef struct
{
  GTask *task;
  Step   step;
} Waiting;

static void
waiting_free (gpointer data)
{
  Waiting *self = data;

  g_object_unref (self->task);
  g_free (self);
}

static gboolean
look_again (gpointer data)
{
  Waiting *self = data;

  self->step (self->task);
  return G_SOURCE_REMOVE;
}

static gboolean
look_again_fd (int          fd G_GNUC_UNUSED,
               GIOCondition condition G_GNUC_UNUSED,
               gpointer     data)
{
  return look_again (data);
}

static gboolean
look_again_cancelled (GCancellable *cancellable G_GNUC_UNUSED,
                      gpointer      data G_GNUC_UNUSED)
{
  return G_SOURCE_CONTINUE;
}

/* @step is called when the process may have ended, in @wait_us at the latest, or when @task was cancelled. */
static void
wait_for_end (GTask  *task,
              Step    step,
              gint64  wait_us)
{
  ArenaConsumer *self = g_task_get_source_object (task);
  int pidfd = arena_consumer_get_private (self)->hooks->get_pidfd (self);
  Waiting waiting = { g_object_ref (task), step };
  gpointer data = g_memdup2 (&waiting, sizeof waiting);
  g_autoptr(GSource) source = NULL;

  if (pidfd >= 0)
    {
      source = g_unix_fd_source_new (pidfd, G_IO_IN);
      g_source_set_ready_time (source, g_get_monotonic_time () + wait_us);
      g_source_set_callback (source, G_SOURCE_FUNC (look_again_fd), data, waiting_free);
    }
  else
    {
      source = g_timeout_source_new (LOOK_INTERVAL_US / 1000);
      g_source_set_callback (source, look_again, data, waiting_free);
    }

  if (g_task_get_cancellable (task) != NULL)
    {
      g_autoptr(GSource) child = g_cancellable_source_new (g_task_get_cancellable (task));

      g_source_set_callback (child, G_SOURCE_FUNC (look_again_cancelled), NULL, NULL);
      g_source_add_child_source (source, child);
    }

  g_source_set_priority (source, g_task_get_priority (task));
  g_source_attach (source, g_task_get_context (task));
}

/* A dead worker's exit status may come later than its hang-up: the error is kept back for it, and @retry finds it again. */
static gboolean
await_status (GTask        *task,
              const GError *error,
              Step          retry)
{
  ArenaConsumer *self = g_task_get_source_object (task);
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  gint64 now = g_get_monotonic_time ();

  if (!g_error_matches (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE) || priv->hooks == NULL || priv->broken != NULL ||
      g_cancellable_is_cancelled (g_task_get_cancellable (task)) || priv->hooks->reap (self, 0))
    return FALSE;

  if (priv->status_until == 0)
    priv->status_until = now + arena_timing.exit_status;
  if (now >= priv->status_until)
    return FALSE;

  wait_for_end (task, retry, priv->status_until - now);
  return TRUE;
}

static void
try_again (GTask             *task,
           ArenaAsyncAttempt  attempt)
{
  gpointer self = g_task_get_source_object (task);
  GError *error = NULL;

  if (!attempt (task, self, &error))
    g_task_return_error (task, leave (self, error));
}

static void retry_next (GTask *task);

static gboolean
attempt_next (GTask     *task,
              gpointer   object,
              GError   **error)
{
  GError *local_error = NULL;
  ArenaUnit *unit = arena_consumer_next_unit (object, 0, NULL, &local_error);

  if (await_status (task, local_error, retry_next))
    {
      g_error_free (local_error);
      return TRUE;
    }

  if (local_error != NULL)
    {
      g_propagate_error (error, local_error);
      return FALSE;
    }

  leave (object, NULL);
  g_task_return_pointer (task, unit, g_object_unref);
  return TRUE;
}

static void
retry_next (GTask *task)
{
  try_again (task, attempt_next);
}

/**
 * arena_consumer_next_async:
 * @self: a consumer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the producer lives
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called in the thread-default main context of the caller when the unit is there
 * @user_data: for @callback
 *
 * Receives the next unit without blocking: see [method@Arena.Consumer.next].
 *
 * Until it has finished, the consumer is being waited on: another call that waits is `ARENA_ERROR_BUSY`.
 *
 * Since: 0.1
 */
void
arena_consumer_next_async (ArenaConsumer       *self,
                           gint64               timeout,
                           GCancellable        *cancellable,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (ARENA_IS_CONSUMER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_consumer_next_async);
  if (begin (self, task, timeout))
    arena_async_run (task, priv->channel, &priv->waiter, timeout, "the next unit", attempt_next, leave);
}

/**
 * arena_consumer_next_finish:
 * @self: a consumer
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Consumer.next_async].
 *
 * Errors: as of [method@Arena.Consumer.next].
 *
 * Returns: (transfer full) (nullable): the unit, `NULL` at the end of the iteration or with @error set
 *
 * Since: 0.1
 */
ArenaUnit *
arena_consumer_next_finish (ArenaConsumer  *self,
                            GAsyncResult   *result,
                            GError        **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, arena_consumer_next_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static void retry_stop (GTask *task);

static gboolean
attempt_stop (GTask     *task,
              gpointer   object,
              GError   **error)
{
  GError *local_error = NULL;

  if (arena_consumer_drain_epoch (object, 0, NULL, &local_error))
    {
      leave (object, NULL);
      g_task_return_boolean (task, TRUE);
      return TRUE;
    }

  if (await_status (task, local_error, retry_stop))
    {
      g_error_free (local_error);
      return TRUE;
    }

  g_propagate_error (error, local_error);
  return FALSE;
}

static void
retry_stop (GTask *task)
{
  try_again (task, attempt_stop);
}

/**
 * arena_consumer_stop_async:
 * @self: a consumer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the producer lives
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called in the thread-default main context of the caller when the iteration has ended
 * @user_data: for @callback
 *
 * Ends the running iteration early without blocking: see [method@Arena.Consumer.stop].
 *
 * Since: 0.1
 */
void
arena_consumer_stop_async (ArenaConsumer       *self,
                           gint64               timeout,
                           GCancellable        *cancellable,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (ARENA_IS_CONSUMER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_consumer_stop_async);
  if (!begin (self, task, timeout))
    return;

  arena_consumer_stop_epoch (self);
  priv->restart = FALSE;
  arena_async_run (task, priv->channel, &priv->waiter, timeout, "the end of the iteration", attempt_stop, leave);
}

/**
 * arena_consumer_stop_finish:
 * @self: a consumer
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Consumer.stop_async].
 *
 * Errors: as of [method@Arena.Consumer.stop].
 *
 * Returns: `TRUE` once the iteration has ended, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_consumer_stop_finish (ArenaConsumer  *self,
                            GAsyncResult   *result,
                            GError        **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, arena_consumer_stop_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/* Closing: the ladder's steps, each begun by a source on the process's end and on the step's. */

static void
finish_close (GTask *task)
{
  GError *error = NULL;

  if (arena_consumer_end_close (g_task_get_source_object (task), &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
step_close (GTask *task)
{
  ArenaConsumer *self = g_task_get_source_object (task);
  const ArenaConsumerHooks *hooks = arena_consumer_get_private (self)->hooks;
  GError *error = NULL;
  gint64 wait_us;

  if (g_task_return_error_if_cancelled (task))
    return;

  if (hooks == NULL || hooks->end_step (self, g_task_get_task_data (task), &wait_us, &error))
    finish_close (task);
  else if (error != NULL)
    g_task_return_error (task, error);
  else
    wait_for_end (task, step_close, wait_us);
}

/**
 * arena_consumer_close_async:
 * @self: a consumer
 * @timeout: microseconds that the producer's process may take to leave by itself, -1 for the library's own bound
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called in the thread-default main context of the caller when the boundary is closed
 * @user_data: for @callback
 *
 * Ends the boundary without blocking: see [method@Arena.Consumer.close].
 *
 * Since: 0.1
 */
void
arena_consumer_close_async (ArenaConsumer       *self,
                            gint64               timeout,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autoptr(GTask) task = NULL;
  ArenaEnding *ending;
  GError *error = NULL;

  g_return_if_fail (ARENA_IS_CONSUMER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_consumer_close_async);
  g_task_set_check_cancellable (task, FALSE);
  if (!arena_timeout_check (timeout, &error) ||
      (priv->channel != NULL && !arena_channel_check_fork (priv->channel, &error)))
    {
      g_task_return_error (task, error);
      return;
    }

  if (priv->channel == NULL)
    {
      g_task_return_boolean (task, TRUE);
      return;
    }

  arena_consumer_begin_close (self);
  ending = g_new0 (ArenaEnding, 1);
  ending->timeout = timeout;
  g_task_set_task_data (task, ending, g_free);
  step_close (task);
}

/**
 * arena_consumer_close_finish:
 * @self: a consumer
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Consumer.close_async].
 *
 * Errors: as of [method@Arena.Consumer.close].
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_consumer_close_finish (ArenaConsumer  *self,
                             GAsyncResult   *result,
                             GError        **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, arena_consumer_close_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
