/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-async-private.h"

#include "base/arena-error-private.h"
#include "sync/arena-timing-private.h"
#include "sync/arena-wait-source-private.h"

/* Every asynchronous call is its synchronous try and a source: the try arms what it waits for, the source says when to
 * try again. No thread, and no second way of waiting. The task holds the object, the operation the channel.
 */

typedef struct
{
  ArenaChannel      *channel;
  ArenaWaiter       *waiter;
  gint64             started;
  gint64             deadline;
  gint64             asleep;       /* since when */
  gboolean           stall_logged;
  const char        *what;
  ArenaAsyncAttempt  attempt;
  ArenaAsyncLeave    leave;
} Operation;

static void
operation_free (gpointer data)
{
  Operation *self = data;

  arena_channel_unref (self->channel);
  g_free (self);
}

static void step (GTask *task);

static gboolean
source_ready (gpointer data)
{
  Operation *self = g_task_get_task_data (data);

  arena_waiter_count (self->waiter, self->asleep);
  step (data);
  return G_SOURCE_REMOVE;
}

static gint64
get_ready_time (Operation *self)
{
  const gint64 hint = self->waiter->sleep_hint;
  const gint64 stall = arena_waiter_log_stall (self->waiter, self->what, self->started, &self->stall_logged);
  const gint64 times[] = {
    hint < 0 ? -1 : self->asleep + hint,
    stall < 0 ? -1 : self->asleep + stall,
    self->deadline,
  };
  gint64 earliest = -1;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    if (times[i] >= 0 && (earliest < 0 || times[i] < earliest))
      earliest = times[i];
  return earliest;
}

static void
wait_for_source (GTask     *task,
                 Operation *self)
{
  g_autoptr(GSource) source = arena_wait_source_new (self->waiter, g_task_get_cancellable (task));

  self->asleep = g_get_monotonic_time ();
  g_source_set_ready_time (source, get_ready_time (self));
  g_source_set_priority (source, g_task_get_priority (task));
  g_source_set_callback (source, source_ready, g_object_ref (task), g_object_unref);
  g_source_attach (source, g_task_get_context (task));
}

static void
fail (GTask     *task,
      Operation *self,
      GError    *error)
{
  g_task_return_error (task, self->leave (g_task_get_source_object (task), error));
}

static void
step (GTask *task)
{
  Operation *self = g_task_get_task_data (task);
  GError *error = NULL;

  if (g_cancellable_set_error_if_cancelled (g_task_get_cancellable (task), &error))
    {
      fail (task, self, error);
      return;
    }

  if (self->attempt (task, g_task_get_source_object (task), &error))
    return;

  if (!g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK) || self->deadline == 0)
    {
      fail (task, self, error);
      return;
    }

  if (self->deadline > 0 && g_get_monotonic_time () >= self->deadline)
    {
      g_clear_error (&error);
      g_set_error (&error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "Waited %.3f s in vain for %s",
                   (double) (g_get_monotonic_time () - self->started) / G_USEC_PER_SEC, self->what);
      fail (task, self, error);
      return;
    }

  g_error_free (error);
  wait_for_source (task, self);
}

void
arena_async_run (GTask             *task,
                 ArenaChannel      *channel,
                 ArenaWaiter       *waiter,
                 gint64             timeout,
                 const char        *what,
                 ArenaAsyncAttempt  attempt,
                 ArenaAsyncLeave    leave)
{
  Operation *self = g_new (Operation, 1);

  *self = (Operation) {
    .channel = arena_channel_ref (channel),
    .waiter = waiter,
    .started = g_get_monotonic_time (),
    .deadline = arena_deadline_from_timeout (timeout),
    .what = what,
    .attempt = attempt,
    .leave = leave,
  };
  g_task_set_task_data (task, self, operation_free);
  /* A unit that was taken is handed over: cancelled after that is too late, or it would be lost. */
  g_task_set_check_cancellable (task, FALSE);
  step (task);
}
