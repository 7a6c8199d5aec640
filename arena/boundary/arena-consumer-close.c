/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include "sync/arena-timing-private.h"

/* Closing, which is for any thread: the waits end first, then the process, then the arena. */

void
arena_consumer_begin_close (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  /* Before anyone joins the producer: it may be waiting for storage. */
  atomic_store_explicit (&priv->closed, 1, memory_order_seq_cst);
  arena_channel_set_state (priv->channel, ARENA_STATE_SHUTDOWN | ARENA_STATE_CLOSED);
}

gboolean
arena_consumer_end_close (ArenaConsumer  *self,
                          GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (!arena_backend_close (priv->backend, error) || !arena_backend_unlink (priv->backend, error))
    return FALSE;

  arena_consumer_show_closed (self);
  arena_consumer_emit_closed (self, NULL);
  return TRUE;
}

static gboolean
end_process (ArenaConsumer  *self,
             gint64          timeout,
             GCancellable   *cancellable,
             GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  ArenaEnding ending = { .timeout = timeout };
  GError *local_error = NULL;
  gint64 wait_us;

  if (priv->hooks == NULL)
    return TRUE;

  while (!priv->hooks->end_step (self, &ending, &wait_us, &local_error))
    {
      if (local_error != NULL)
        {
          g_propagate_error (error, local_error);
          return FALSE;
        }
      if (!priv->hooks->wait (self, wait_us, cancellable, error))
        return FALSE;
    }

  return TRUE;
}

/**
 * arena_consumer_close:
 * @self: a consumer
 * @timeout: microseconds that the producer's process may take to leave by itself, -1 for the library's own bound
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error, or `NULL`
 *
 * Ends the boundary: both sides' waits, the worker's process, then the arena.
 *
 * Units and bytes received before stay valid for as long as they are kept. A `next` that waits on another thread fails
 * with `ARENA_ERROR_CLOSED`. Closing again does nothing; where ending the process was cancelled or failed, or pinned
 * memory could not be given back, it goes on with that. May be called from any thread.
 *
 * Errors: `G_IO_ERROR_CANCELLED`, `ARENA_ERROR_TIMED_OUT` where the worker's process can't be ended, an
 * [error@Arena.CudaError] where CUDA doesn't let go of pinned memory, `ARENA_ERROR_FORKED`,
 * `ARENA_ERROR_INVALID_ARGUMENT` for a timeout below -1.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_consumer_close (ArenaConsumer  *self,
                      gint64          timeout,
                      GCancellable   *cancellable,
                      GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_timeout_check (timeout, error))
    return FALSE;

  if (priv->channel == NULL)
    return TRUE;

  if (!arena_channel_check_fork (priv->channel, error))
    return FALSE;

  arena_consumer_begin_close (self);
  return end_process (self, timeout, cancellable, error) && arena_consumer_end_close (self, error);
}
