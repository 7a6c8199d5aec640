/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-producer-private.h"

#include "backend/arena-writer.h"
#include "base/arena-error-private.h"
#include "boundary/arena-async-private.h"
#include "sync/arena-timing-private.h"

/* The asynchronous twins of a producer's two waits; see arena-async.c. One thread, as for everything of a producer. */

static GError *
leave (gpointer object,
       GError  *error)
{
  ArenaProducer *self = object;

  arena_waiter_leave (&self->waiter);
  return error;
}

/* A try leaves its need for storage standing. Whoever gives up takes it back, or the consumer would go on thinking that
 * this producer waits; the writer does so with each call that isn't a try. */
static GError *
leave_unit (gpointer object,
            GError  *error)
{
  ArenaProducer *self = object;

  if (!g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK) && self->writer != NULL &&
      arena_writer_begin_unit (self->writer, 0, 0, NULL, NULL))
    arena_writer_abort_unit (self->writer, NULL);
  return leave (object, error);
}

static gboolean
attempt_iteration (GTask     *task,
                   gpointer   object,
                   GError   **error)
{
  gboolean wanted = FALSE;

  if (!arena_producer_next_iteration (object, 0, NULL, &wanted, error))
    return FALSE;

  leave (object, NULL);
  g_task_return_boolean (task, wanted);
  return TRUE;
}

/**
 * arena_producer_wait_iteration_async:
 * @self: a producer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the consumer lives
 * @cancellable: (nullable): a cancellable
 * @callback: (scope async): called in the thread-default main context of the caller when the wait is over
 * @user_data: for @callback
 *
 * Waits for the next iteration without blocking: see [method@Arena.Producer.wait_iteration].
 *
 * Since: 0.1
 */
void
arena_producer_wait_iteration_async (ArenaProducer       *self,
                                     gint64               timeout,
                                     GCancellable        *cancellable,
                                     GAsyncReadyCallback  callback,
                                     gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  GError *error = NULL;

  g_return_if_fail (ARENA_IS_PRODUCER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_producer_wait_iteration_async);
  if (!arena_timeout_check (timeout, &error) || !arena_producer_enter (self, FALSE, &error))
    g_task_return_error (task, error);
  else
    arena_async_run (task, self->channel, &self->waiter, timeout, "the next iteration", attempt_iteration, leave);
}

/**
 * arena_producer_wait_iteration_finish:
 * @self: a producer
 * @result: what the callback was given
 * @epoch: (out) (optional): return location for the iteration's number, from 1
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Producer.wait_iteration_async].
 *
 * Errors: as of [method@Arena.Producer.wait_iteration].
 *
 * Returns: `TRUE` with an iteration to send; `FALSE` with @error set, or without one where the consumer closed and
 *   nothing more is wanted
 *
 * Since: 0.1
 */
gboolean
arena_producer_wait_iteration_finish (ArenaProducer  *self,
                                      GAsyncResult   *result,
                                      guint64        *epoch,
                                      GError        **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, arena_producer_wait_iteration_async), FALSE);

  if (epoch != NULL)
    *epoch = self->epoch;
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* Each attempt is a try; the unit's real deadline and cancellable are for the waits of its fields. */
typedef struct
{
  gsize   expected_size;
  gint64  deadline;
  guint64 n_waits;
} Begin;

static gboolean
attempt_unit (GTask     *task,
              gpointer   object,
              GError   **error)
{
  ArenaProducer *self = object;
  const Begin *begin = g_object_get_data (G_OBJECT (task), "arena-begin");

  self->deadline = 0;
  arena_producer_tell_waits (self, begin->n_waits);
  if (!arena_producer_open_unit (self, begin->expected_size, error))
    return FALSE;

  self->deadline = begin->deadline;
  g_set_object (&self->cancellable, g_task_get_cancellable (task));
  leave (self, NULL);
  g_task_return_pointer (task, self->builder, NULL);
  return TRUE;
}

/**
 * arena_producer_begin_unit_async:
 * @self: a producer
 * @expected_size: bytes the unit's large fields will take, or 0 where that isn't known
 * @timeout: microseconds for all waits of this unit together, 0 to only try, -1 for as long as the consumer lives
 * @cancellable: (nullable): a cancellable, for all waits of this unit
 * @callback: (scope async): called in the thread-default main context of the caller when the unit is open
 * @user_data: for @callback
 *
 * Begins the next unit without blocking: see [method@Arena.Producer.begin_unit].
 *
 * Give the @expected_size, so that the storage is waited for here: the builder's own calls do block.
 *
 * Since: 0.1
 */
void
arena_producer_begin_unit_async (ArenaProducer       *self,
                                 gsize                expected_size,
                                 gint64               timeout,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  GError *error = NULL;
  Begin *begin;

  g_return_if_fail (ARENA_IS_PRODUCER (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, arena_producer_begin_unit_async);
  if (!arena_timeout_check (timeout, &error) || !arena_producer_enter (self, TRUE, &error))
    {
      g_task_return_error (task, error);
      return;
    }

  begin = g_new (Begin, 1);
  *begin = (Begin) { expected_size, arena_deadline_from_timeout (timeout), self->waiter.n_waits };
  g_object_set_data_full (G_OBJECT (task), "arena-begin", begin, g_free);
  g_clear_object (&self->cancellable);
  arena_async_run (task, self->channel, &self->waiter, timeout, "room for the next unit", attempt_unit, leave_unit);
}

/**
 * arena_producer_begin_unit_finish:
 * @self: a producer
 * @result: what the callback was given
 * @error: return location for an error, or `NULL`
 *
 * Finishes [method@Arena.Producer.begin_unit_async].
 *
 * Errors: as of [method@Arena.Producer.begin_unit].
 *
 * Returns: (transfer none): the producer's own builder, with a fresh unit, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaUnitBuilder *
arena_producer_begin_unit_finish (ArenaProducer  *self,
                                  GAsyncResult   *result,
                                  GError        **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, arena_producer_begin_unit_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
