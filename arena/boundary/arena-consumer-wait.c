/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include "base/arena-error-private.h"
#include "sync/arena-timing-private.h"

/* What a consumer's wait looks at: the producer's answer to the hello, then the queue, the state words and the peer.
 * The peer's death is read before the queue, so what it published last is still delivered.
 */

/* TRUE once the producer has attached; else *status says what to do. */
static gboolean
check_attached (ArenaConsumer    *self,
                ArenaWaitStatus  *status,
                GError          **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autoptr(GError) local_error = NULL;

  if (G_LIKELY (priv->channel->cp != NULL))
    return TRUE;

  if (arena_channel_accept (priv->channel, &local_error))
    {
      priv->waiter.want_message = FALSE;
      arena_consumer_update_fd (self);
      return TRUE;
    }

  *status = ARENA_WAIT_FAILED;
  if (g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
    *status = arena_channel_check_consumer (priv->channel, error) ? ARENA_WAIT_PENDING : ARENA_WAIT_FAILED;
  else
    {
      /* The answer was received and is lost with its descriptors: no second one comes. */
      if (!g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_PEER_GONE) && priv->broken == NULL)
        priv->broken = g_error_copy (local_error);
      g_propagate_error (error, g_steal_pointer (&local_error));
    }
  return FALSE;
}

static ArenaWaitStatus
check_queue (gpointer   data,
             GError   **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (data);
  g_autoptr(GError) local_error = NULL;
  ArenaWaitStatus status;
  gboolean alive;

  if (!check_attached (data, &status, error))
    return status;

  alive = arena_channel_check_consumer (priv->channel, &local_error);
  if (!alive && g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_CLOSED))
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return ARENA_WAIT_FAILED;
    }

  if (arena_queue_in_has_slot (&priv->queue, error))
    return ARENA_WAIT_DONE;

  if (error != NULL && *error != NULL)
    return ARENA_WAIT_FAILED;

  if (alive)
    return ARENA_WAIT_PENDING;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return ARENA_WAIT_FAILED;
}

static void
arm_queue (gpointer data)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (data);

  arena_queue_in_arm (&priv->queue);
}

static void
lower (gint64 *sleep_us,
       gint64  remaining)
{
  remaining = MAX (remaining, 0);
  *sleep_us = *sleep_us < 0 ? remaining : MIN (*sleep_us, remaining);
}

/* This wait can't end by itself: says so once by signal, once in the log, and gives up after starve-timeout. */
static ArenaWaitStatus
starve (ArenaConsumer  *self,
        gint64         *sleep_us,
        GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  ArenaStarvation *starvation = &priv->starvation;
  gint64 limit = atomic_load_explicit (&priv->starve_timeout, memory_order_relaxed);
  gint64 now = g_get_monotonic_time ();
  g_autofree char *text = NULL;

  if (starvation->since == 0)
    starvation->since = now;

  if (!starvation->told)
    {
      starvation->told = TRUE;
      if (priv->kept == NULL)
        priv->kept = g_object_ref (self); /* the handler may drop the caller's */
      /* Whatever the handler says: it may have closed the consumer, or a collector may have freed something. */
      arena_consumer_emit_starved (self, arena_pool_reader_n_held (starvation->reader));
      return ARENA_WAIT_AGAIN;
    }

  if (limit >= 0 && !starvation->trying && now - starvation->since >= limit)
    {
      text = arena_starvation_describe (starvation, &priv->queue);
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_BUSY, text);
      return ARENA_WAIT_FAILED;
    }

  if (!starvation->logged && now - starvation->since >= arena_timing.stall_log)
    {
      starvation->logged = TRUE;
      text = arena_starvation_describe (starvation, &priv->queue);
      g_warning ("%s", text);
    }

  /* Not once: an asynchronous wait is several. */
  priv->waiter.explained = starvation->logged;
  if (limit >= 0)
    lower (sleep_us, limit - (now - starvation->since));
  if (!starvation->logged)
    lower (sleep_us, starvation->since + arena_timing.stall_log - now);
  return ARENA_WAIT_PENDING;
}

static ArenaWaitStatus
settle_queue (gpointer   data,
              gint64    *sleep_us,
              GError   **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (data);

  if (!arena_starvation_check (&priv->starvation, &priv->queue))
    {
      priv->starvation.since = 0;
      return ARENA_WAIT_PENDING;
    }

  /* A dead producer leaves its need standing, so the claim holds only if it was still alive, and then is looked at
   * again. The death itself is for check() to report. */
  if (arena_peer_look (&priv->channel->peer))
    return ARENA_WAIT_AGAIN;
  if (!arena_starvation_check (&priv->starvation, &priv->queue))
    return ARENA_WAIT_AGAIN;

  return starve (data, sleep_us, error);
}

static const ArenaWaitOps queue_ops = {
  .what = "the next unit",
  .check = check_queue,
  .arm = arm_queue,
  .settle = settle_queue,
};

gboolean
arena_consumer_wait (ArenaConsumer  *self,
                     gint64          deadline,
                     GCancellable   *cancellable,
                     GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  ArenaWaiter *waiter = &priv->waiter;
  gboolean ready;

  if (!priv->asynchronous)
    arena_starvation_reset (&priv->starvation, deadline == 0);
  ready = arena_waiter_wait (waiter, &queue_ops, self, deadline, cancellable, error);
  if (G_UNLIKELY (waiter->n_waits != priv->storage->consumer_waits))
    {
      atomic_store_explicit (&priv->storage->consumer_waits, waiter->n_waits, memory_order_relaxed);
      atomic_store_explicit (&priv->storage->consumer_wait_us, waiter->waited_us, memory_order_relaxed);
    }

  return ready;
}
