/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include "base/arena-error-private.h"

/* What a consumer shows of itself: its state and its end. The waiting thread's own words are not for other threads to
 * read, so what is shown is a word of its own, and notifications come from inside the call that changed it.
 */

G_DEFINE_ENUM_TYPE (ArenaConsumerState, arena_consumer_state,
                    G_DEFINE_ENUM_VALUE (ARENA_CONSUMER_STATE_IDLE, "idle"),
                    G_DEFINE_ENUM_VALUE (ARENA_CONSUMER_STATE_RUNNING, "running"),
                    G_DEFINE_ENUM_VALUE (ARENA_CONSUMER_STATE_STOPPING, "stopping"),
                    G_DEFINE_ENUM_VALUE (ARENA_CONSUMER_STATE_ENDED, "ended"),
                    G_DEFINE_ENUM_VALUE (ARENA_CONSUMER_STATE_FAILED, "failed"),
                    G_DEFINE_ENUM_VALUE (ARENA_CONSUMER_STATE_CLOSED, "closed"))

static ArenaConsumerState
find_state (const ArenaConsumerPrivate *priv)
{
  if (priv->broken != NULL)
    return ARENA_CONSUMER_STATE_FAILED;

  switch (priv->epoch_state)
    {
    case ARENA_EPOCH_RUNNING:
      return ARENA_CONSUMER_STATE_RUNNING;
    case ARENA_EPOCH_STOPPING:
      return ARENA_CONSUMER_STATE_STOPPING;
    case ARENA_EPOCH_ENDED:
      return ARENA_CONSUMER_STATE_ENDED;
    case ARENA_EPOCH_NONE:
    default:
      return ARENA_CONSUMER_STATE_IDLE;
    }
}

gboolean
arena_consumer_has_news (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  return find_state (priv) != atomic_load_explicit (&priv->shown_state, memory_order_relaxed);
}

void
arena_consumer_show_state (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  guint state = find_state (priv);
  guint shown = atomic_load_explicit (&priv->shown_state, memory_order_relaxed);

  /* Closed is for good, and may be set by another thread meanwhile. */
  while (shown != state && shown != ARENA_CONSUMER_STATE_CLOSED)
    if (atomic_compare_exchange_weak_explicit (&priv->shown_state, &shown, state, memory_order_relaxed,
                                               memory_order_relaxed))
      {
        g_object_notify (G_OBJECT (self), "state");
        return;
      }
}

void
arena_consumer_show_closed (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (atomic_exchange_explicit (&priv->shown_state, ARENA_CONSUMER_STATE_CLOSED, memory_order_relaxed) !=
      ARENA_CONSUMER_STATE_CLOSED)
    g_object_notify (G_OBJECT (self), "state");
}

/**
 * arena_consumer_get_state: (get-property state)
 * @self: a consumer
 *
 * Gets where the consumer stands.
 *
 * May be called from any thread; what another thread's call is about to change may still be the old state.
 *
 * Returns: the state
 *
 * Since: 0.1
 */
ArenaConsumerState
arena_consumer_get_state (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), ARENA_CONSUMER_STATE_IDLE);

  return (ArenaConsumerState) atomic_load_explicit (&priv->shown_state, memory_order_relaxed);
}
