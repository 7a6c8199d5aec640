/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-producer-private.h"

#include <time.h>

#include "base/arena-error-private.h"
#include "boundary/arena-remote-error-private.h"
#include "sync/arena-killpoint-private.h"
#include "sync/arena-timing-private.h"
#include "unit/arena-unit-builder-private.h"

/* The calls of a producer: its iterations, and where it waits in them. The queue keeps two slots for END and ERROR, so
 * that only wait_iteration() and begin_unit() (and, through the builder, a field that needs storage and a commit that
 * needs a descriptor sent) ever wait.
 */

/* Waiting for the next iteration. */

static gboolean
consumer_closed (const ArenaProducer *self)
{
  return atomic_load_explicit (&self->channel->cc->state, memory_order_seq_cst) != 0;
}

static ArenaWaitStatus
check_iteration (gpointer   data,
                 GError   **error)
{
  ArenaProducer *self = data;
  guint64 wanted = atomic_load_explicit (&self->channel->cc->wanted_epoch, memory_order_seq_cst);
  g_autoptr(GError) local_error = NULL;

  if (consumer_closed (self))
    return ARENA_WAIT_DONE;

  if (wanted == self->epoch + 1)
    return ARENA_WAIT_DONE;

  if (wanted != self->epoch)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                   "The consumer asks for iteration %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT, wanted, self->epoch);
      return ARENA_WAIT_FAILED;
    }

  if (arena_channel_check_producer (self->channel, 0, &local_error))
    return ARENA_WAIT_PENDING;

  /* It may have closed since the look above, and that is no error. */
  if (consumer_closed (self))
    return ARENA_WAIT_DONE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return ARENA_WAIT_FAILED;
}

/* Nothing to announce: a new iteration is a state change, and the consumer always wakes for one. */
static void
arm_nothing (gpointer data G_GNUC_UNUSED)
{
}

static const ArenaWaitOps iteration_ops = {
  .what = "the next iteration",
  .check = check_iteration,
  .arm = arm_nothing,
};

gboolean
arena_producer_enter (ArenaProducer  *self,
                      gboolean        running,
                      GError        **error)
{
  if (!(running ? arena_producer_check_running (self, error) : arena_producer_check_usable (self, error)))
    return FALSE;

  if (!running && self->running)
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Finish the running iteration first");
  else if (running && arena_unit_builder_is_open (self->builder))
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Commit or abort the open unit first");
  else if (arena_waiter_enter (&self->waiter, error))
    {
      arena_producer_forget_need (self);
      return TRUE;
    }

  return FALSE;
}

gboolean
arena_producer_next_iteration (ArenaProducer  *self,
                               gint64          deadline,
                               GCancellable   *cancellable,
                               gboolean       *wanted,
                               GError        **error)
{
  if (!arena_waiter_wait (&self->waiter, &iteration_ops, self, deadline, cancellable, error))
    return FALSE;

  *wanted = !consumer_closed (self);
  if (!*wanted)
    return TRUE;

  self->epoch++;
  self->running = TRUE;
  return self->writer == NULL || arena_writer_start_epoch (self->writer, self->epoch, error);
}

/**
 * arena_producer_wait_iteration:
 * @self: a producer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the consumer lives
 * @cancellable: (nullable): a cancellable
 * @epoch: (out) (optional): return location for the iteration's number, from 1
 * @error: return location for an error, or `NULL`
 *
 * Waits until the consumer asks for the next iteration.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` while one is running, `ARENA_ERROR_PEER_GONE`, `ARENA_ERROR_WOULD_BLOCK`,
 * `ARENA_ERROR_TIMED_OUT`, `G_IO_ERROR_CANCELLED`, `ARENA_ERROR_PROTOCOL`, `ARENA_ERROR_FORKED`,
 * `ARENA_ERROR_INVALID_ARGUMENT` for a timeout below -1.
 *
 * Returns: `TRUE` with an iteration to send; `FALSE` with @error set, or without one where the consumer closed and
 *   nothing more is wanted
 *
 * Since: 0.1
 */
gboolean
arena_producer_wait_iteration (ArenaProducer  *self,
                               gint64          timeout,
                               GCancellable   *cancellable,
                               guint64        *epoch,
                               GError        **error)
{
  gboolean wanted = FALSE;

  g_return_val_if_fail (ARENA_IS_PRODUCER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (epoch != NULL)
    *epoch = self->epoch;

  if (!arena_timeout_check (timeout, error))
    return FALSE;

  if (!arena_producer_enter (self, FALSE, error))
    return FALSE;

  if (!arena_producer_next_iteration (self, arena_deadline_from_timeout (timeout), cancellable, &wanted, error))
    wanted = FALSE;
  arena_waiter_leave (&self->waiter);
  if (wanted && epoch != NULL)
    *epoch = self->epoch;
  return wanted;
}

/* Waiting for a queue slot. */

static ArenaWaitStatus
check_room (gpointer   data,
            GError   **error)
{
  ArenaProducer *self = data;
  g_autoptr(GError) local_error = NULL;

  if (!arena_channel_check_producer (self->channel, self->epoch, error))
    return ARENA_WAIT_FAILED;

  if (arena_queue_out_has_room (&self->queue, &local_error))
    return ARENA_WAIT_DONE;

  if (local_error == NULL)
    return ARENA_WAIT_PENDING;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return ARENA_WAIT_FAILED;
}

static void
arm_room (gpointer data)
{
  ArenaProducer *self = data;

  arena_queue_out_arm (&self->queue);
}

static const ArenaWaitOps room_ops = {
  .what = "room in the queue",
  .check = check_room,
  .arm = arm_room,
};

void
arena_producer_tell_waits (ArenaProducer *self,
                           guint64        n_before)
{
  ArenaProducerPage *cp = self->channel->cp;

  if (self->waiter.n_waits == n_before)
    return;

  atomic_store_explicit (&cp->slot_waits, self->waiter.n_waits, memory_order_relaxed);
  atomic_store_explicit (&cp->slot_wait_us, (guint64) self->waiter.waited_us, memory_order_relaxed);
}

/* Only a poll notices a death, and who finds room each time has none. */
static void
look_now_and_then (ArenaProducer *self)
{
  struct timespec now;
  gint64 now_us;

  clock_gettime (CLOCK_MONOTONIC_COARSE, &now);
  now_us = now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
  if (now_us - self->looked < arena_timing.look)
    return;

  self->looked = now_us;
  arena_peer_look (&self->channel->peer);
}

gboolean
arena_producer_open_unit (ArenaProducer  *self,
                          gsize           expected_size,
                          GError        **error)
{
  /* Of a unit that is larger than its place only some fields will be there: the first of them takes it. */
  gboolean acquired = self->writer != NULL && expected_size >= MAX (self->channel->geometry.threshold, 1) &&
                      expected_size <= self->spill_above;

  look_now_and_then (self);
  if (!arena_waiter_wait (&self->waiter, &room_ops, self, self->deadline, self->cancellable, error))
    return FALSE;

  arena_queue_out_prefetch (&self->queue);

  if (acquired && !arena_producer_acquire (self, expected_size, error))
    return FALSE;

  return arena_unit_builder_open (self->builder, self->unit, arena_queue_out_envelope (&self->queue),
                                  (gsize) self->channel->geometry.envelope_size, acquired, error);
}

ArenaUnitBuilder *
arena_producer_begin_entered (ArenaProducer  *self,
                              gsize           expected_size,
                              gint64          timeout,
                              GCancellable   *cancellable,
                              GError        **error)
{
  guint64 n_waits = self->waiter.n_waits;
  gboolean open;

  self->deadline = arena_deadline_from_timeout (timeout);
  g_set_object (&self->cancellable, cancellable);
  open = arena_producer_open_unit (self, expected_size, error);
  arena_producer_tell_waits (self, n_waits);
  if (!open)
    arena_producer_end_unit (self);
  arena_waiter_leave (&self->waiter);
  return open ? self->builder : NULL;
}

/**
 * arena_producer_begin_unit:
 * @self: a producer
 * @expected_size: bytes the unit's large fields will take, or 0 where that isn't known
 * @timeout: microseconds for all waits of this unit together, 0 to only try, -1 for as long as the consumer lives
 * @cancellable: (nullable): a cancellable, for all waits of this unit
 * @error: return location for an error, or `NULL`
 *
 * Begins the next unit.
 *
 * Waits until it can be queued, and with an @expected_size of at least the threshold also for its storage; otherwise its
 * first large field waits for that. Add fields to the returned builder and commit or abort it.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` outside an iteration or while a unit is open; `ARENA_ERROR_CLOSED` where the
 * consumer stopped this iteration or closed; `ARENA_ERROR_TOO_LARGE` where @expected_size can never fit and the arena's
 * `oversize` is an error; `ARENA_ERROR_BUSY` where only this process's own buffers block the storage;
 * `ARENA_ERROR_WOULD_BLOCK`, `ARENA_ERROR_TIMED_OUT`, `G_IO_ERROR_CANCELLED`, `ARENA_ERROR_PEER_GONE`,
 * `ARENA_ERROR_PROTOCOL`, `ARENA_ERROR_FORKED`, `ARENA_ERROR_INVALID_ARGUMENT`.
 *
 * Returns: (transfer none): the producer's own builder, with a fresh unit (no reference is given, so no `g_autoptr`), or `NULL`
 *   with @error set
 *
 * Since: 0.1
 */
ArenaUnitBuilder *
arena_producer_begin_unit (ArenaProducer  *self,
                           gsize           expected_size,
                           gint64          timeout,
                           GCancellable   *cancellable,
                           GError        **error)
{
  g_return_val_if_fail (ARENA_IS_PRODUCER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!arena_timeout_check (timeout, error) || !arena_producer_enter (self, TRUE, error))
    return NULL;

  return arena_producer_begin_entered (self, expected_size, timeout, cancellable, error);
}

/* BUSY while an asynchronous call waits for room: it would open its unit after the end. */
static gboolean
check_idle (ArenaProducer  *self,
            GError        **error)
{
  if (!arena_producer_check_running (self, error) || !arena_waiter_enter (&self->waiter, error))
    return FALSE;

  arena_waiter_leave (&self->waiter);
  return TRUE;
}

/* END and ERROR have slots of their own and never wait. */
static void
publish_end (ArenaProducer *self,
             ArenaSlotKind  kind,
             gsize          envelope_size)
{
  ArenaSlot slot = {
    .unit = self->unit,
    .epoch = self->epoch,
    .envelope_size = (guint32) envelope_size,
    .kind = kind,
  };

  arena_kill_point (ARENA_KILL_BEFORE_END);
  arena_queue_out_publish (&self->queue, &slot);
  arena_kill_point (ARENA_KILL_AFTER_END);
  self->running = FALSE;
}

/**
 * arena_producer_finish_iteration:
 * @self: a producer
 * @error: return location for an error, or `NULL`
 *
 * Ends the running iteration; an open unit is aborted.
 *
 * Never waits. The consumer receives what was committed and then the end.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` where no iteration is running, `ARENA_ERROR_BUSY` while
 * [method@Arena.Producer.begin_unit_async] is waiting, `ARENA_ERROR_FORKED`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_producer_finish_iteration (ArenaProducer  *self,
                                 GError        **error)
{
  g_return_val_if_fail (ARENA_IS_PRODUCER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_idle (self, error))
    return FALSE;

  arena_unit_builder_abort (self->builder);
  publish_end (self, ARENA_SLOT_END, 0);
  return TRUE;
}

static gboolean
end_with_failure (ArenaProducer             *self,
                  const ArenaRemoteFailure  *failure,
                  GError                   **error)
{
  gsize envelope_size;

  if (failure->item < -1)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
                   "%" G_GINT64_FORMAT " is no item's index; -1 means none", failure->item);
      return FALSE;
    }

  if (!check_idle (self, error))
    return FALSE;

  arena_unit_builder_abort (self->builder);
  envelope_size = arena_remote_error_encode (arena_queue_out_envelope (&self->queue),
                                             (gsize) self->channel->geometry.envelope_size, failure);
  publish_end (self, ARENA_SLOT_ERROR, envelope_size);
  return TRUE;
}

/**
 * arena_producer_fail:
 * @self: a producer
 * @type_name: the name of the exception's type
 * @message: what went wrong
 * @traceback: (nullable): the traceback as text
 * @item: the index of the item at which it went wrong, or -1
 * @error: return location for an error, or `NULL`
 *
 * Ends the running iteration with a failure; an open unit is aborted.
 *
 * Never waits. The consumer receives what was committed and then a `ARENA_ERROR_REMOTE` error, and may start another
 * iteration. Texts that are too long for an envelope are cut.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` where no iteration is running, `ARENA_ERROR_BUSY` while
 * [method@Arena.Producer.begin_unit_async] is waiting, `ARENA_ERROR_INVALID_ARGUMENT` for an item below -1,
 * `ARENA_ERROR_FORKED`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_producer_fail (ArenaProducer  *self,
                     const char     *type_name,
                     const char     *message,
                     const char     *traceback,
                     gint64          item,
                     GError        **error)
{
  const ArenaRemoteFailure failure = {
    .type_name = type_name,
    .message = message,
    .traceback = traceback,
    .item = item,
  };

  g_return_val_if_fail (ARENA_IS_PRODUCER (self), FALSE);
  g_return_val_if_fail (type_name != NULL, FALSE);
  g_return_val_if_fail (message != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  return end_with_failure (self, &failure, error);
}

/**
 * arena_producer_fail_with_error:
 * @self: a producer
 * @failure: what went wrong
 * @item: the index of the item at which it went wrong, or -1
 * @error: return location for an error, or `NULL`
 *
 * Ends the running iteration with an error; an open unit is aborted.
 *
 * As [method@Arena.Producer.fail], for programs whose failures are a [struct@GLib.Error]: the consumer also learns its
 * domain, which is the type's name as well, and its code. An error that only says that the consumer stopped or is gone
 * needs no distinction: nobody reads it.
 *
 * Errors: as of [method@Arena.Producer.fail].
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_producer_fail_with_error (ArenaProducer  *self,
                                const GError   *failure,
                                gint64          item,
                                GError        **error)
{
  ArenaRemoteFailure record = { .item = item };

  g_return_val_if_fail (ARENA_IS_PRODUCER (self), FALSE);
  g_return_val_if_fail (failure != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  record.domain = g_quark_to_string (failure->domain);
  record.type_name = record.domain != NULL ? record.domain : "GError";
  record.code = failure->code;
  record.message = failure->message != NULL ? failure->message : "";
  return end_with_failure (self, &record, error);
}
