/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include <unistd.h>

#include "backend/arena-pool.h"
#include "backend/arena-ring.h"
#include "backend/arena-stats-private.h"
#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"

/**
 * ArenaConsumer:
 *
 * The receiving end of a boundary: an arena, a queue of units, and the producer's life.
 *
 * A consumer takes an arena over when it is created and hands one file descriptor to the producer's process
 * ([method@Arena.Consumer.dup_worker_fd]); [class@Arena.Worker] does that by itself. Then it asks for one iteration after
 * the other and reads its units:
 *
 * ```c
 * g_autoptr(ArenaUnit) unit = NULL;
 *
 * while ((unit = arena_consumer_next (consumer, -1, NULL, &error)) != NULL)
 *   {
 *     g_autoptr(GBytes) pixels = arena_unit_dup_bytes (unit, 0, &error);
 *     ...
 *     g_clear_object (&unit);
 *   }
 * ```
 *
 * What a consumer of a pool keeps, its producer can't use: a pool needs as many segments as `buffer-size`, plus the units
 * held at a time, plus one.
 *
 * One thread at a time calls `start`, `next` and `stop`; a second one gets `ARENA_ERROR_BUSY`.
 * [method@Arena.Consumer.close] and the getters are for any thread. Units and their bytes may be dropped on any thread,
 * before or after the consumer.
 *
 * Since: 0.1
 */

#define DEFAULT_BUFFER_SIZE   3
#define DEFAULT_THRESHOLD     4096
#define DEFAULT_ENVELOPE_SIZE 16384

enum
{
  PROP_0,
  PROP_BACKEND,
  PROP_BUFFER_SIZE,
  PROP_THRESHOLD,
  PROP_ENVELOPE_SIZE,
  PROP_STARVE_TIMEOUT,
  PROP_STATE,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

enum
{
  CLOSED,
  STARVED,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

static void arena_consumer_initable_iface_init (GInitableIface *iface);

G_DEFINE_TYPE_WITH_CODE (ArenaConsumer, arena_consumer, G_TYPE_OBJECT,
                         G_ADD_PRIVATE (ArenaConsumer)
                         G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, arena_consumer_initable_iface_init))

ArenaConsumerPrivate *
arena_consumer_get_private (ArenaConsumer *self)
{
  return arena_consumer_get_instance_private (self);
}

gboolean
arena_consumer_emit_starved (ArenaConsumer *self,
                             guint          n_held)
{
  gboolean handled = FALSE;

  g_signal_emit (self, signals[STARVED], 0, n_held, &handled);
  return handled;
}

void
arena_consumer_emit_closed (ArenaConsumer *self,
                            const GError  *error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  if (atomic_exchange_explicit (&priv->told_closed, 1, memory_order_relaxed) == 0)
    g_signal_emit (self, signals[CLOSED], 0, error);
}

/* Leaves the hello for the producer and, where that is a process of our own, starts it. All or nothing: where it fails,
 * the arena can be handed over again. */
static gboolean
invite_producer (ArenaConsumer  *self,
                 GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);
  ArenaChannel *channel = priv->channel;

  if (!arena_channel_set_queue (channel, priv->buffer_size, priv->envelope_size, priv->threshold, error) ||
      !arena_channel_invite (channel, priv->storage->data_fd, error))
    return FALSE;

  if (priv->hooks == NULL)
    return TRUE;

  if (priv->hooks->spawn (self, channel->remote_socket, error))
    {
      close (arena_channel_steal_remote (channel, NULL));
      return TRUE;
    }

  arena_channel_uninvite (channel);
  return FALSE;
}

/* What the arena is made of. */
static ArenaStorage *
peek_storage (ArenaBackend  *backend,
              GError       **error)
{
  ArenaStorage *storage = backend != NULL ? arena_backend_peek_storage (backend) : NULL;

  if (backend == NULL)
    g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "A consumer needs a backend");
  else if (storage == NULL && (ARENA_IS_POOL (backend) || ARENA_IS_RING (backend)))
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                 "The %s was not initialised: create it by its constructor, or call init()", G_OBJECT_TYPE_NAME (backend));
  else if (storage == NULL)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED,
                 "A %s can't cross a boundary; use Arena.Pool or Arena.Ring", G_OBJECT_TYPE_NAME (backend));
  return storage;
}

static gboolean
arena_consumer_init_sync (GInitable     *initable,
                          GCancellable  *cancellable G_GNUC_UNUSED,
                          GError       **error)
{
  ArenaConsumer *self = ARENA_CONSUMER (initable);
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);
  g_autoptr(ArenaReader) reader = NULL;
  ArenaPoolReader *pool_reader;
  ArenaStorage *storage;

  if (priv->channel != NULL)
    return TRUE;

  storage = peek_storage (priv->backend, error);
  if (storage == NULL)
    return FALSE;

  reader = arena_storage_open_reader (storage, error);
  if (reader == NULL)
    return FALSE;

  priv->storage = arena_storage_ref (storage);
  priv->channel = arena_channel_ref (storage->channel);
  if (!invite_producer (self, error))
    {
      g_clear_pointer (&priv->storage, arena_storage_unref);
      g_clear_pointer (&priv->channel, arena_channel_unref);
      arena_storage_forget_reader (storage);
      arena_storage_unpin (storage, NULL);
      return FALSE;
    }

  priv->reader = g_steal_pointer (&reader);
  pool_reader = ARENA_IS_POOL_READER (priv->reader) ? ARENA_POOL_READER (priv->reader) : NULL;
  arena_starvation_init (&priv->starvation, pool_reader, priv->channel->geometry.n_segments);
  arena_waiter_init (&priv->waiter, priv->channel->wake_consumer, &priv->channel->peer);
  priv->waiter.want_message = TRUE;
  arena_queue_in_init (&priv->queue, priv->channel);
  return TRUE;
}

static void
arena_consumer_initable_iface_init (GInitableIface *iface)
{
  iface->init = arena_consumer_init_sync;
}

/**
 * arena_consumer_new:
 * @backend: a pool or a ring that no boundary has taken over yet
 * @buffer_size: how many units may be queued, at least 1
 * @error: return location for an error, or `NULL`
 *
 * Creates a consumer and takes @backend over.
 *
 * From then on the arena is the consumer's: it shuts it down and closes and unlinks it when it is closed. Where creation
 * fails, the arena is left as it was.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` for a @buffer_size of 0 or above 65536, `ARENA_ERROR_NOT_SUPPORTED` where the
 * arena has been taken over before or isn't one of this library's, `ARENA_ERROR_INVALID_STATE` where it was constructed
 * without its initialization, `ARENA_ERROR_CLOSED` where it was closed, `ARENA_ERROR_NO_SPACE` where a descriptor or
 * memory can't be had, `ARENA_ERROR_FORKED`, and an [error@Arena.CudaError] where the arena is to be pinned and can't
 * be.
 *
 * Returns: (transfer full): the consumer, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaConsumer *
arena_consumer_new (ArenaBackend  *backend,
                    guint          buffer_size,
                    GError       **error)
{
  g_return_val_if_fail (ARENA_IS_BACKEND (backend), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (ARENA_TYPE_CONSUMER, NULL, error, "backend", backend, "buffer-size", buffer_size, NULL);
}

/**
 * arena_consumer_dup_stats:
 * @self: a consumer
 *
 * Gets the boundary's statistics: its arena's, with every unit received and this side's waits for units.
 *
 * May be called from any thread, at any time.
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 0.1
 */
ArenaStats *
arena_consumer_dup_stats (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);
  ArenaStats *stats;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), NULL);

  stats = priv->storage != NULL ? arena_storage_dup_stats (priv->storage) : g_new0 (ArenaStats, 1);
  stats->units = atomic_load_explicit (&priv->n_units, memory_order_relaxed);
  return stats;
}

/**
 * arena_consumer_get_buffer_size: (get-property buffer-size)
 * @self: a consumer
 *
 * Gets how many units may be queued.
 *
 * Returns: the number of units
 *
 * Since: 0.1
 */
guint
arena_consumer_get_buffer_size (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), 0);

  return priv->buffer_size;
}

/**
 * arena_consumer_get_threshold: (get-property threshold)
 * @self: a consumer
 *
 * Gets from how many bytes on a field takes storage in the arena.
 *
 * Returns: the threshold, in bytes
 *
 * Since: 0.1
 */
guint
arena_consumer_get_threshold (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), 0);

  return priv->threshold;
}

/**
 * arena_consumer_get_envelope_size: (get-property envelope-size)
 * @self: a consumer
 *
 * Gets how many bytes an envelope may have in its queue slot.
 *
 * Returns: the size, in bytes
 *
 * Since: 0.1
 */
guint
arena_consumer_get_envelope_size (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), 0);

  return priv->envelope_size;
}

/**
 * arena_consumer_get_starve_timeout: (get-property starve-timeout)
 * @self: a consumer
 *
 * Gets how long a wait may starve its producer before it fails with `ARENA_ERROR_BUSY`.
 *
 * Returns: microseconds, -1 for ever
 *
 * Since: 0.1
 */
gint64
arena_consumer_get_starve_timeout (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), -1);

  return atomic_load_explicit (&priv->starve_timeout, memory_order_relaxed);
}

/**
 * arena_consumer_set_starve_timeout: (set-property starve-timeout)
 * @self: a consumer
 * @starve_timeout: microseconds, -1 (or less) for ever
 *
 * Sets how long a wait may starve its producer before it fails with `ARENA_ERROR_BUSY`.
 *
 * A wait starves its producer while this process holds every unit's storage that the producer could use. Another thread
 * may be about to release one, hence the default of -1; where one thread both holds and waits, 0 is right. Waits that
 * time out one after the other count as one. A wait that has begun may keep to the former value.
 *
 * Since: 0.1
 */
void
arena_consumer_set_starve_timeout (ArenaConsumer *self,
                                   gint64         starve_timeout)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  g_return_if_fail (ARENA_IS_CONSUMER (self));

  starve_timeout = MAX (starve_timeout, -1);
  if (atomic_exchange_explicit (&priv->starve_timeout, starve_timeout, memory_order_relaxed) != starve_timeout)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STARVE_TIMEOUT]);
}

static void
arena_consumer_set_property (GObject      *object,
                             guint         property_id,
                             const GValue *value,
                             GParamSpec   *pspec)
{
  ArenaConsumer *self = ARENA_CONSUMER (object);
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  switch (property_id)
    {
    case PROP_BACKEND:
      priv->backend = g_value_dup_object (value);
      break;
    case PROP_BUFFER_SIZE:
      priv->buffer_size = g_value_get_uint (value);
      break;
    case PROP_THRESHOLD:
      priv->threshold = g_value_get_uint (value);
      break;
    case PROP_ENVELOPE_SIZE:
      priv->envelope_size = g_value_get_uint (value);
      break;
    case PROP_STARVE_TIMEOUT:
      arena_consumer_set_starve_timeout (self, g_value_get_int64 (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_consumer_get_property (GObject    *object,
                             guint       property_id,
                             GValue     *value,
                             GParamSpec *pspec)
{
  ArenaConsumer *self = ARENA_CONSUMER (object);
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  switch (property_id)
    {
    case PROP_BACKEND:
      g_value_set_object (value, priv->backend);
      break;
    case PROP_BUFFER_SIZE:
      g_value_set_uint (value, priv->buffer_size);
      break;
    case PROP_THRESHOLD:
      g_value_set_uint (value, priv->threshold);
      break;
    case PROP_ENVELOPE_SIZE:
      g_value_set_uint (value, priv->envelope_size);
      break;
    case PROP_STARVE_TIMEOUT:
      g_value_set_int64 (value, arena_consumer_get_starve_timeout (self));
      break;
    case PROP_STATE:
      g_value_set_enum (value, (int) arena_consumer_get_state (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

/* Shuts down, so that the producer learns of it at once; what units hold lives on. */
static void
arena_consumer_dispose (GObject *object)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (ARENA_CONSUMER (object));

  if (priv->channel != NULL)
    {
      atomic_store_explicit (&priv->closed, 1, memory_order_seq_cst);
      arena_channel_set_state (priv->channel, ARENA_STATE_SHUTDOWN | ARENA_STATE_CLOSED);
    }

  G_OBJECT_CLASS (arena_consumer_parent_class)->dispose (object);
}

static void
arena_consumer_finalize (GObject *object)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (ARENA_CONSUMER (object));

  if (priv->channel != NULL)
    {
      arena_storage_abandon (priv->storage);
      arena_backend_unlink (priv->backend, NULL);
    }

  g_clear_object (&priv->reader);
  g_clear_pointer (&priv->storage, arena_storage_unref);
  g_clear_pointer (&priv->channel, arena_channel_unref);
  g_clear_object (&priv->backend);
  g_clear_fd (&priv->epoll, NULL);
  arena_starvation_clear (&priv->starvation);
  g_clear_error (&priv->broken);
  g_clear_pointer (&priv->remote_error, arena_remote_error_free);
  g_mutex_clear (&priv->mutex);

  G_OBJECT_CLASS (arena_consumer_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  GParamFlags construct = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
  GParamFlags writable = G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  /**
   * ArenaConsumer:backend:
   *
   * The arena, which the consumer takes over.
   *
   * Since: 0.1
   */
  properties[PROP_BACKEND] = g_param_spec_object ("backend", NULL, NULL, ARENA_TYPE_BACKEND, construct);

  /**
   * ArenaConsumer:buffer-size: (getter get_buffer_size)
   *
   * How many units may be queued, from 1 to 65536; 3 if not set.
   *
   * Since: 0.1
   */
  properties[PROP_BUFFER_SIZE] =
    g_param_spec_uint ("buffer-size", NULL, NULL, 0, G_MAXUINT, DEFAULT_BUFFER_SIZE, construct);

  /**
   * ArenaConsumer:threshold: (getter get_threshold)
   *
   * Fields of at least this many bytes, from 0 to 2^24, take storage in the arena; smaller ones travel in the envelope.
   * 4096 if not set.
   *
   * Since: 0.1
   */
  properties[PROP_THRESHOLD] =
    g_param_spec_uint ("threshold", NULL, NULL, 0, G_MAXUINT, DEFAULT_THRESHOLD, construct);

  /**
   * ArenaConsumer:envelope-size: (getter get_envelope_size)
   *
   * How many bytes a unit's envelope may have in its queue slot, from 1 to 2^24: the names and shapes of its fields, the
   * bytes of small ones, its value and its payload.
   *
   * A longer one travels in memory of its own, which costs system calls. 16384 if not set.
   *
   * Since: 0.1
   */
  properties[PROP_ENVELOPE_SIZE] =
    g_param_spec_uint ("envelope-size", NULL, NULL, 0, G_MAXUINT, DEFAULT_ENVELOPE_SIZE, construct);

  /**
   * ArenaConsumer:starve-timeout: (getter get_starve_timeout) (setter set_starve_timeout)
   *
   * How many microseconds a wait may starve its producer before it fails with `ARENA_ERROR_BUSY`, from 0; -1 for ever.
   *
   * Since: 0.1
   */
  properties[PROP_STARVE_TIMEOUT] =
    g_param_spec_int64 ("starve-timeout", NULL, NULL, -1, G_MAXINT64, -1, writable);

  /**
   * ArenaConsumer:state: (getter get_state)
   *
   * Where the consumer stands. It is notified inside the call that changed it, on that call's thread.
   *
   * Since: 0.1
   */
  properties[PROP_STATE] =
    g_param_spec_enum ("state", NULL, NULL, ARENA_TYPE_CONSUMER_STATE, ARENA_CONSUMER_STATE_IDLE,
                       G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
arena_consumer_class_init (ArenaConsumerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = arena_consumer_set_property;
  object_class->get_property = arena_consumer_get_property;
  object_class->dispose = arena_consumer_dispose;
  object_class->finalize = arena_consumer_finalize;
  install_properties (object_class);

  /**
   * ArenaConsumer::closed:
   * @self: the consumer
   * @error: (nullable): why nothing can follow, or `NULL` where the boundary was closed
   *
   * Emitted once, when the boundary has ended: inside the call that found its producer gone or broken, or that closed it,
   * on that call's thread. Dropping a consumer that was never closed emits nothing.
   *
   * Since: 0.1
   */
  signals[CLOSED] = g_signal_new ("closed", ARENA_TYPE_CONSUMER, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                  G_TYPE_ERROR);

  /**
   * ArenaConsumer::starved:
   * @self: the consumer
   * @n_held: how many units' storage this process holds
   *
   * Emitted where this process holds every unit's storage that the producer could use while the queue is empty.
   *
   * Once a wait, and calls that time out one after the other are a wait each. It comes on the waiting thread; for
   * asynchronous calls and sources that is the thread of their context, and for a source once between two dispatches.
   * A handler may drop units, or run a garbage collector that does, and may make any other call: the wait then looks
   * again.
   *
   * Returns: `TRUE` where something was given back, so that no further handler is called
   *
   * Since: 0.1
   */
  signals[STARVED] = g_signal_new ("starved", ARENA_TYPE_CONSUMER, G_SIGNAL_RUN_LAST, 0,
                                   g_signal_accumulator_true_handled, NULL, NULL, G_TYPE_BOOLEAN, 1, G_TYPE_UINT);
}

static void
arena_consumer_init (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_instance_private (self);

  g_mutex_init (&priv->mutex);
  priv->wait_status = -1;
  priv->epoll = -1;
  priv->starve_timeout = -1;
}
