/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-consumer-private.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "sync/arena-peer-private.h"
#include "sync/arena-timing-private.h"
#include "unit/arena-packed-private.h"
#include "unit/arena-unit-private.h"

/* The calls on an open consumer. Those that change an iteration or wait enter as the one waiting thread; reading is for
 * any thread.
 */

/* What every call on an open consumer begins with. */
gboolean
arena_consumer_check_open (ArenaConsumer  *self,
                           GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (priv->channel == NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                           "This consumer was constructed without its initialization; use a constructor");
      return FALSE;
    }

  if (!arena_channel_check_fork (priv->channel, error))
    return FALSE;

  if (atomic_load_explicit (&priv->closed, memory_order_seq_cst) == 0)
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "This consumer is closed");
  return FALSE;
}

/* PROTOCOL and PEER_GONE are for good: nothing after them can be trusted or will come. */
static void
keep_if_final (ArenaConsumer  *self,
               const GError   *error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (priv->broken == NULL && (g_error_matches (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL) ||
                               g_error_matches (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE)))
    priv->broken = g_error_copy (error);
}

/* Puts what is known of the producer's end into a PEER_GONE error. */
static void
explain_death (ArenaConsumer  *self,
               GError         *error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autofree char *how = NULL;
  int wait_status;

  if (!g_error_matches (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE) || priv->broken != NULL)
    return;

  if (priv->hooks != NULL)
    priv->hooks->reap (self, priv->asynchronous ? 0 : arena_timing.exit_status);

  wait_status = atomic_load_explicit (&priv->wait_status, memory_order_relaxed);
  if (wait_status < 0)
    return;

  how = WIFEXITED (wait_status) ? arena_peer_describe_end (CLD_EXITED, WEXITSTATUS (wait_status))
                                : arena_peer_describe_end (CLD_KILLED, WTERMSIG (wait_status));
  g_free (error->message);
  error->message = g_strdup_printf ("The worker is gone: %s", how);
}

gboolean
arena_consumer_enter (ArenaConsumer  *self,
                      GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (!arena_consumer_check_open (self, error) || !arena_waiter_enter (&priv->waiter, error))
    return FALSE;

  if (priv->broken == NULL)
    return TRUE;

  g_propagate_error (error, g_error_copy (priv->broken));
  arena_waiter_leave (&priv->waiter);
  return FALSE;
}

GError *
arena_consumer_leave (ArenaConsumer *self,
                      GError        *error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autoptr(ArenaConsumer) kept = NULL;

  if (error != NULL)
    {
      explain_death (self, error);
      keep_if_final (self, error);
      priv->starvation.timed_out = g_error_matches (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
    }

  kept = g_steal_pointer (&priv->kept);
  priv->asynchronous = FALSE;
  arena_waiter_leave (&priv->waiter);
  if (G_LIKELY (!arena_consumer_has_news (self)))
    return error;

  if (kept == NULL)
    kept = g_object_ref (self); /* handlers may drop the caller's */
  arena_consumer_show_state (self);
  if (priv->broken != NULL)
    arena_consumer_emit_closed (self, priv->broken);
  return error;
}

static void
leave (ArenaConsumer  *self,
       GError         *local_error,
       GError        **error)
{
  local_error = arena_consumer_leave (self, local_error);
  if (local_error != NULL)
    g_propagate_error (error, local_error);
}

/**
 * arena_consumer_dup_worker_fd:
 * @self: a consumer
 * @error: return location for an error, or `NULL`
 *
 * Gets the descriptor that the producer's process needs for [ctor@Arena.Producer.new_from_fd].
 *
 * It can be had once: the consumer keeps no copy, so that the end of the process that has it is noticed. The caller hands
 * it over (a spawned process inherits it, see [method@Gio.SubprocessLauncher.take_fd]) and closes it. It is close-on-exec.
 *
 * Errors: `ARENA_ERROR_NOT_SUPPORTED` the second time and for an [class@Arena.Worker], `ARENA_ERROR_CLOSED`,
 * `ARENA_ERROR_FORKED`.
 *
 * Returns: the descriptor, owned by the caller, or -1 with @error set
 *
 * Since: 0.1
 */
int
arena_consumer_dup_worker_fd (ArenaConsumer  *self,
                              GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  return arena_consumer_check_open (self, error) ? arena_channel_steal_remote (priv->channel, error) : -1;
}

/**
 * arena_consumer_watch_pidfd:
 * @self: a consumer
 * @pidfd: a process descriptor, taken over in any case
 * @error: return location for an error, or `NULL`
 *
 * Watches the producer's process by a descriptor that whoever started it has.
 *
 * Without it the kernel names the process when the producer attaches. Call it before the first `start` or `next`. It is
 * preferred to what the producer sends, and shows an end before the producer has attached.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` where it isn't a process descriptor, `ARENA_ERROR_CLOSED`,
 * `ARENA_ERROR_FORKED`, `ARENA_ERROR_BUSY` while another thread waits.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_consumer_watch_pidfd (ArenaConsumer  *self,
                            int             pidfd,
                            GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  g_autofd int fd = pidfd;
  gboolean valid;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_consumer_enter (self, error))
    return FALSE;

  valid = arena_peer_is_pidfd (fd);
  if (valid)
    {
      arena_peer_take_pidfd (&priv->channel->peer, g_steal_fd (&fd), TRUE);
      arena_consumer_update_fd (self);
    }
  else
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "Descriptor %d is not a process's", pidfd);
  leave (self, NULL, NULL);
  return valid;
}

/**
 * arena_consumer_set_exit_status:
 * @self: a consumer
 * @wait_status: as of `waitpid()`
 *
 * Tells the consumer how the producer's process ended, for the messages of later errors.
 *
 * For who started and reaps that process; [class@Arena.Worker] does it by itself. May be called from any thread.
 *
 * Since: 0.1
 */
void
arena_consumer_set_exit_status (ArenaConsumer *self,
                                int            wait_status)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  g_return_if_fail (ARENA_IS_CONSUMER (self));

  atomic_store_explicit (&priv->wait_status, wait_status, memory_order_relaxed);
}

/**
 * arena_consumer_start:
 * @self: a consumer
 * @error: return location for an error, or `NULL`
 *
 * Begins the next iteration, without waiting.
 *
 * Where one is running it is told to stop, and the next [method@Arena.Consumer.next] first throws away what it had sent;
 * units received before stay valid. The first iteration begins by itself with the first `next`.
 *
 * Errors: `ARENA_ERROR_PEER_GONE` (with the exit code or signal where it is known), `ARENA_ERROR_CLOSED`,
 * `ARENA_ERROR_FORKED`, `ARENA_ERROR_BUSY` while another thread waits, `ARENA_ERROR_PROTOCOL`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_consumer_start (ArenaConsumer  *self,
                      GError        **error)
{
  GError *local_error = NULL;
  gboolean started;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_consumer_enter (self, error))
    return FALSE;

  started = arena_consumer_start_epoch (self, &local_error);
  leave (self, local_error, error);
  return started;
}

/* FALSE without error at the end of the iteration. */
static gboolean
receive (ArenaConsumer  *self,
         ArenaReceived  *received,
         gint64          deadline,
         GCancellable   *cancellable,
         GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);

  if (priv->epoch_state == ARENA_EPOCH_NONE && !arena_consumer_start_epoch (self, error))
    return FALSE;

  if (priv->epoch_state == ARENA_EPOCH_STOPPING && !arena_consumer_drain_epoch (self, deadline, cancellable, error))
    return FALSE;

  if (priv->epoch_state == ARENA_EPOCH_ENDED)
    return FALSE;

  return arena_consumer_take_unit (self, received, deadline, cancellable, error);
}

ArenaUnit *
arena_consumer_next_unit (ArenaConsumer  *self,
                          gint64          deadline,
                          GCancellable   *cancellable,
                          GError        **error)
{
  ArenaReceived received;
  ArenaUnit *unit;

  if (!receive (self, &received, deadline, cancellable, error))
    return NULL;

  unit = arena_unit_new (received.sequence, received.epoch, received.envelope, received.envelope_size, received.storage,
                         received.spill, error);
  if (unit != NULL && arena_consumer_get_private (self)->channel->geometry.read_only)
    arena_unit_set_read_only (unit);
  return unit;
}

/**
 * arena_consumer_next:
 * @self: a consumer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the producer lives
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error, or `NULL`
 *
 * Receives the next unit of the iteration.
 *
 * The first call begins the first iteration. At the end of an iteration, `NULL` is returned without an error, and again
 * until [method@Arena.Consumer.start] begins the next.
 *
 * Errors: `ARENA_ERROR_WOULD_BLOCK` (a try) and `ARENA_ERROR_TIMED_OUT` change nothing and can be repeated, as can
 * `G_IO_ERROR_CANCELLED`; `ARENA_ERROR_BUSY` while another thread waits, or after `starve-timeout` while this process
 * holds every unit's storage that the producer could use (the message names them); `ARENA_ERROR_REMOTE` where the
 * worker failed: it ended the iteration, and the next can be started; `ARENA_ERROR_PEER_GONE` where the producer died:
 * every unit it had published has been received before; `ARENA_ERROR_PROTOCOL` where it sent something that can't be;
 * `ARENA_ERROR_NO_SPACE` where memory for a ring's copy is short, or memory, mappings or descriptors for what did not
 * fit into the arena, which loses that unit, as does an [error@Arena.CudaError] where a read-only pool or a copy can't
 * be pinned; `ARENA_ERROR_CLOSED`, `ARENA_ERROR_FORKED`, `ARENA_ERROR_INVALID_ARGUMENT` for a timeout below -1.
 *
 * Returns: (transfer full) (nullable): the unit, `NULL` at the end of the iteration or with @error set
 *
 * Since: 0.1
 */
ArenaUnit *
arena_consumer_next (ArenaConsumer  *self,
                     gint64          timeout,
                     GCancellable   *cancellable,
                     GError        **error)
{
  GError *local_error = NULL;
  ArenaUnit *unit;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!arena_timeout_check (timeout, error) || !arena_consumer_enter (self, error))
    return NULL;

  unit = arena_consumer_next_unit (self, arena_deadline_from_timeout (timeout), cancellable, &local_error);
  leave (self, local_error, error);
  return unit;
}

/* Describes what came; both are taken over. */
static guint8 *
pack (ArenaReceived  *received,
      gsize          *n_bytes,
      GBytes        **storage,
      GError        **error)
{
  g_autofree guint8 *envelope = received->envelope;
  g_autoptr(GBytes) bytes = received->storage;
  g_autoptr(GBytes) spill = received->spill;
  gsize size = bytes != NULL ? g_bytes_get_size (bytes) : 0;
  gsize spill_size = spill != NULL ? g_bytes_get_size (spill) : 0;
  ArenaEnvelope decoded;
  guint64 spill_start = 0;
  guint8 *record;

  if (!arena_envelope_decode (&decoded, envelope, received->envelope_size, size, spill_size, error))
    return NULL;
  if (G_UNLIKELY (spill != NULL) &&
      !arena_packed_join (g_steal_pointer (&bytes), g_steal_pointer (&spill), &bytes, &spill_start, error))
    return NULL;

  record = arena_packed_encode (&decoded, received->sequence, received->epoch,
                                bytes != NULL ? g_bytes_get_data (bytes, NULL) : NULL, spill_start, n_bytes);
  if (storage != NULL)
    *storage = g_steal_pointer (&bytes);
  return record;
}

/**
 * arena_consumer_next_packed:
 * @self: a consumer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the producer lives
 * @cancellable: (nullable): a cancellable
 * @n_bytes: (out): return location for the size of the record in bytes
 * @storage: (out) (optional) (nullable) (transfer full): return location for a view of all of the unit's bytes in the
 *   arena, `NULL` if it has none there
 * @error: return location for an error, or `NULL`
 *
 * Receives the next unit of the iteration as one record, without an object for it.
 *
 * This is for bindings, to which every call is dear; it is [method@Arena.Consumer.next] and
 * [method@Arena.Unit.take_packed] in one. The record is that of [method@Arena.Producer.send_packed]: the positions of its
 * fields are offsets in @storage, or in the record itself for small ones. @storage is a view that owns the unit's place in
 * the arena (with a ring, a copy): it stays valid, with the same contents, until its last reference is dropped. Where
 * some fields did not fit into the arena and others did, it is a copy of them all.
 *
 * At the end of an iteration the record is empty: not `NULL`, but 0 bytes long.
 *
 * Errors: as of [method@Arena.Consumer.next].
 *
 * Returns: (array length=n_bytes) (transfer full): the record, empty at the end of the iteration, or `NULL` with @error
 *   set
 *
 * Since: 0.1
 */
guint8 *
arena_consumer_next_packed (ArenaConsumer  *self,
                            gint64          timeout,
                            GCancellable   *cancellable,
                            gsize          *n_bytes,
                            GBytes        **storage,
                            GError        **error)
{
  GError *local_error = NULL;
  guint8 *record = NULL;
  ArenaReceived received;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (n_bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  *n_bytes = 0;
  if (storage != NULL)
    *storage = NULL;
  if (!arena_timeout_check (timeout, error) || !arena_consumer_enter (self, error))
    return NULL;

  if (receive (self, &received, arena_deadline_from_timeout (timeout), cancellable, &local_error))
    record = pack (&received, n_bytes, storage, &local_error);
  else if (local_error == NULL)
    record = g_malloc0 (1);
  leave (self, local_error, error);
  return record;
}

/**
 * arena_consumer_dup_remote_error:
 * @self: a consumer
 *
 * Gets what the worker reported with the last `ARENA_ERROR_REMOTE` error.
 *
 * May be called from any thread.
 *
 * Returns: (transfer full) (nullable): the report, or `NULL` where there was none
 *
 * Since: 0.1
 */
ArenaRemoteError *
arena_consumer_dup_remote_error (ArenaConsumer *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  ArenaRemoteError *copy;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), NULL);

  g_mutex_lock (&priv->mutex);
  copy = priv->remote_error != NULL ? arena_remote_error_copy (priv->remote_error) : NULL;
  g_mutex_unlock (&priv->mutex);
  return copy;
}

/**
 * arena_consumer_stop:
 * @self: a consumer
 * @timeout: microseconds to wait, 0 to only try, -1 for as long as the producer lives
 * @cancellable: (nullable): a cancellable
 * @error: return location for an error, or `NULL`
 *
 * Ends the running iteration early and throws away what it had sent.
 *
 * The producer's open unit is aborted and its call fails, and it goes into stand-by. Units received before stay valid.
 * Without a running iteration nothing happens. A call that timed out or was cancelled can be repeated.
 *
 * Errors: as of [method@Arena.Consumer.next].
 *
 * Returns: `TRUE` once the iteration has ended, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_consumer_stop (ArenaConsumer  *self,
                     gint64          timeout,
                     GCancellable   *cancellable,
                     GError        **error)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (self);
  GError *local_error = NULL;
  gboolean stopped;

  g_return_val_if_fail (ARENA_IS_CONSUMER (self), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!arena_timeout_check (timeout, error) || !arena_consumer_enter (self, error))
    return FALSE;

  arena_consumer_stop_epoch (self);
  priv->restart = FALSE;
  stopped = arena_consumer_drain_epoch (self, arena_deadline_from_timeout (timeout), cancellable, &local_error);
  leave (self, local_error, error);
  return stopped;
}
