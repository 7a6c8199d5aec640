/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include <unistd.h>

#include "base/arena-error-private.h"
#include "sync/arena-wait-source-private.h"

/* For main loops that want to be told rather than to wait: a source, and a descriptor for loops of another make. */

typedef struct
{
  GSource        source;
  ArenaConsumer *consumer;
  GCancellable  *cancellable; /* nullable */
  GSource       *watch;       /* child: wakes the context; NULL: none */
  gboolean       waiting;     /* since it was last dispatched */
} ConsumerSource;

/* A look of the main loop's is no wait of its own: `starved` is emitted once between two dispatches. */
static gboolean
look (ConsumerSource  *source,
      GError         **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (source->consumer);
  gboolean ready;

  if (!source->waiting)
    arena_starvation_reset (&priv->starvation, TRUE);
  source->waiting = TRUE;

  priv->asynchronous = TRUE;
  ready = arena_consumer_wait (source->consumer, 0, NULL, error);
  priv->asynchronous = FALSE;
  return ready;
}

/* Whether next() would say something at once. A try arms what the watch then sees. */
static gboolean
is_ready (GSource *source)
{
  ConsumerSource *self = (ConsumerSource *) source;
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self->consumer);
  g_autoptr(ArenaConsumer) kept = NULL;
  g_autoptr(GError) error = NULL;
  gboolean ready = TRUE;

  if (g_cancellable_is_cancelled (self->cancellable))
    return TRUE;

  /* A pending call takes what comes. */
  if (!arena_consumer_enter (self->consumer, &error))
    return !g_error_matches (error, ARENA_ERROR, ARENA_ERROR_BUSY);

  if (priv->epoch_state == ARENA_EPOCH_RUNNING || priv->epoch_state == ARENA_EPOCH_STOPPING)
    ready = look (self, &error) || !g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);

  kept = g_steal_pointer (&priv->kept);
  arena_waiter_leave (&priv->waiter);
  if (self->watch != NULL)
    arena_wait_source_update (self->watch);
  return ready;
}

static gboolean
consumer_source_prepare (GSource *source,
                         int     *timeout)
{
  *timeout = -1;
  return is_ready (source);
}

static gboolean
consumer_source_check (GSource *source)
{
  return is_ready (source);
}

/* GLib also dispatches this one when the watch was woken, by whatever woke it. */
static gboolean
consumer_source_dispatch (GSource     *source,
                          GSourceFunc  callback,
                          gpointer     user_data)
{
  if (!is_ready (source))
    return G_SOURCE_CONTINUE;

  ((ConsumerSource *) source)->waiting = FALSE;
  return callback != NULL ? callback (user_data) : G_SOURCE_REMOVE;
}

static void
consumer_source_finalize (GSource *source)
{
  ConsumerSource *self = (ConsumerSource *) source;

  g_clear_object (&self->consumer);
  g_clear_object (&self->cancellable);
}

/* What g_source_set_closure() needs, for languages without C callbacks. */
static gboolean
invoke_closure (gpointer user_data)
{
  g_auto(GValue) result = G_VALUE_INIT;

  g_value_init (&result, G_TYPE_BOOLEAN);
  g_closure_invoke (user_data, &result, 0, NULL, NULL);
  return g_value_get_boolean (&result);
}

/* For a C function in a closure. GLib's generic marshaller wants an instance, and there is none. */
static void
marshal (GClosure     *closure,
         GValue       *result,
         guint         n_params G_GNUC_UNUSED,
         const GValue *params G_GNUC_UNUSED,
         gpointer      hint G_GNUC_UNUSED,
         gpointer      data)
{
  GCallback callback = data != NULL ? G_CALLBACK (data) : G_CALLBACK (((GCClosure *) closure)->callback);

  g_value_set_boolean (result, ((GSourceFunc) callback) (closure->data));
}

static GSourceFuncs consumer_source_funcs = {
  .prepare = consumer_source_prepare,
  .check = consumer_source_check,
  .dispatch = consumer_source_dispatch,
  .finalize = consumer_source_finalize,
  .closure_callback = invoke_closure,
  .closure_marshal = (GSourceDummyMarshal) (void (*) (void)) marshal,
};

static gboolean
wake_only (gpointer data G_GNUC_UNUSED)
{
  return G_SOURCE_CONTINUE;
}

/**
 * arena_consumer_create_source:
 * @self: a consumer
 * @cancellable: (nullable): a cancellable, which also makes the source ready
 *
 * Creates a source that is ready while [method@Arena.Consumer.next] would say something without waiting: a unit, the end
 * of the iteration, or an error.
 *
 * Call `next` with a timeout of 0 in the callback. The source holds the consumer until it is destroyed, so destroy it when
 * `next` has returned `NULL`. Attach it in the thread that calls `next`.
 *
 * Returns: (transfer full): the source, not attached yet
 *
 * Since: 0.1
 */
GSource *
arena_consumer_create_source (ArenaConsumer *self,
                              GCancellable  *cancellable)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  ConsumerSource *source;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  source = (ConsumerSource *) g_source_new (&consumer_source_funcs, sizeof *source);
  g_source_set_static_name (&source->source, "Arena consumer");
  source->consumer = g_object_ref (self);
  g_set_object (&source->cancellable, cancellable);
  if (priv->channel != NULL)
    {
      g_autoptr(GSource) watch = arena_wait_source_new (&priv->waiter, cancellable);

      g_source_set_callback (watch, wake_only, NULL, NULL);
      g_source_add_child_source (&source->source, watch);
      source->watch = watch;
    }

  return &source->source;
}

void
arena_consumer_update_fd (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  g_mutex_lock (&priv->mutex);
  if (priv->epoll >= 0)
    arena_waiter_update_epoll (&priv->waiter, priv->epoll, &priv->epoll_pidfd);
  g_mutex_unlock (&priv->mutex);
}

/**
 * arena_consumer_get_fd:
 * @self: a consumer
 * @error: return location for an error, or `NULL`
 *
 * Gets a descriptor that becomes readable when a `next` that said `ARENA_ERROR_WOULD_BLOCK` might say something else.
 *
 * For main loops of another make: watch it for reading, and call [method@Arena.Consumer.next] with a timeout of 0 until
 * it says `ARENA_ERROR_WOULD_BLOCK` again. Its readability means nothing before such a call. Don't read from it.
 *
 * Errors: `ARENA_ERROR_NO_SPACE` where no descriptor can be had, `ARENA_ERROR_CLOSED`, `ARENA_ERROR_FORKED`,
 * `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: the descriptor, owned by the consumer, or -1 with @error set
 *
 * Since: 0.1
 */
int
arena_consumer_get_fd (ArenaConsumer  *self,
                       GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  int fd;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  if (!arena_consumer_check_open (self, error))
    return -1;

  g_mutex_lock (&priv->mutex);
  if (priv->epoll < 0)
    priv->epoll = arena_waiter_new_epoll (&priv->waiter, &priv->epoll_pidfd, error);
  fd = priv->epoll;
  g_mutex_unlock (&priv->mutex);
  return fd;
}
