/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-worker-private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/arena-error-private.h"
#include "boundary/arena-child-private.h"
#include "boundary/arena-consumer-private.h"
#include "sync/arena-timing-private.h"

/**
 * ArenaWorker:
 *
 * A consumer that starts its producer's process itself, and ends it.
 *
 * ```c
 * const char * const argv[] = { "./decode-pictures", folder, NULL };
 * g_autoptr(ArenaPool) pool = arena_pool_new (4 << 20, 4, &error);
 * g_autoptr(ArenaWorker) worker = arena_worker_new (ARENA_BACKEND (pool), argv, 2, &error);
 * ```
 *
 * The program calls [ctor@Arena.Producer.new_from_environment]. The process is started once and serves every iteration.
 * Its standard streams are this process's own. [method@Arena.Consumer.close] asks it to leave, waits, then sends SIGTERM and
 * SIGKILL; a worker that is dropped unclosed, or left when this process exits, is given 200 ms. Only this object reaps it.
 *
 * Since: 0.1
 */

struct _ArenaWorker
{
  ArenaConsumer  parent_instance;

  char         **argv;
  char         **environ;
  char          *cwd;

  ArenaChild     child;
  gint64         pid;

  ArenaWorkerEntry entry;
};

enum
{
  PROP_0,
  PROP_ARGV,
  PROP_ENVIRON,
  PROP_CWD,
  PROP_PID,
  PROP_EXIT_STATUS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void arena_worker_initable_iface_init (GInitableIface *iface);

static GInitableIface *parent_initable_iface;

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaWorker, arena_worker, ARENA_TYPE_CONSUMER,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, arena_worker_initable_iface_init)
                               G_IMPLEMENT_INTERFACE (G_TYPE_ASYNC_INITABLE, arena_worker_async_initable_iface_init))

static gboolean
spawn (ArenaConsumer  *consumer,
       int             fd,
       GError        **error)
{
  ArenaWorker *self = ARENA_WORKER (consumer);
  ArenaConsumerPrivate *priv = arena_consumer_get_private (consumer);

  if (!arena_child_spawn (&self->child, (const char * const *) self->argv, (const char * const *) self->environ,
                          self->cwd, fd, error))
    return FALSE;

  self->pid = self->child.pid;
  arena_worker_entry_add (&self->entry, self);
  if (self->child.pidfd >= 0)
    arena_peer_take_pidfd (&priv->channel->peer, fcntl (self->child.pidfd, F_DUPFD_CLOEXEC, 0), TRUE);
  return TRUE;
}

/* Waits for the end; TRUE once the child has been reaped. */
static gboolean
wait_child (ArenaWorker   *self,
            gint64         timeout_us,
            GCancellable  *cancellable,
            GError       **error)
{
  if (!arena_child_wait (&self->child, timeout_us, cancellable, error))
    return FALSE;

  arena_consumer_set_exit_status (ARENA_CONSUMER (self), self->child.wait_status);
  return TRUE;
}

static gboolean
reap (ArenaConsumer *consumer,
      gint64         timeout_us)
{
  return wait_child (ARENA_WORKER (consumer), timeout_us, NULL, NULL);
}

/* A dying process takes 0.3 ms for each MiB it has mapped. */
static gint64
kill_time (ArenaWorker *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (ARENA_CONSUMER (self));

  return arena_timing.kill + (gint64) (priv->channel->geometry.data_size >> 20) * 300;
}

/* Enters the next step of the ladder; FALSE where there is none. */
static gboolean
begin_step (ArenaWorker *self,
            ArenaEnding *ending)
{
  static const struct
  {
    int         number;
    const char *name;
  } signals[] = { { 0, NULL }, { SIGTERM, "SIGTERM" }, { SIGKILL, "SIGKILL" } };
  const gint64 waits[] = { ending->timeout < 0 ? arena_timing.join : ending->timeout, arena_timing.terminate,
                           kill_time (self) };
  guint i = ending->step;

  if (i == G_N_ELEMENTS (signals))
    return FALSE;

  if (i > 0)
    {
      g_warning ("Worker %" G_GINT64_FORMAT " did not leave within %.1f s; sending %s", self->pid,
                 (double) waits[i - 1] / G_USEC_PER_SEC, signals[i].name);
      arena_child_signal (&self->child, signals[i].number);
    }

  ending->step++;
  ending->until = waits[i] > G_MAXINT64 - g_get_monotonic_time () ? G_MAXINT64 : g_get_monotonic_time () + waits[i];
  return TRUE;
}

static gboolean
end_step (ArenaConsumer  *consumer,
          ArenaEnding    *ending,
          gint64         *wait_us,
          GError        **error)
{
  ArenaWorker *self = ARENA_WORKER (consumer);
  gboolean ended = wait_child (self, 0, NULL, NULL);

  if (!ended && (ending->step == 0 || g_get_monotonic_time () >= ending->until) && !begin_step (self, ending))
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "Worker %" G_GINT64_FORMAT " can't be ended", self->pid);

  *wait_us = MAX (ending->until - g_get_monotonic_time (), 0);
  return ended;
}

static gboolean
wait_for_end (ArenaConsumer  *consumer,
              gint64          wait_us,
              GCancellable   *cancellable,
              GError        **error)
{
  g_autoptr(GError) local_error = NULL;

  wait_child (ARENA_WORKER (consumer), wait_us, cancellable, &local_error);
  if (local_error == NULL)
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

static int
get_pidfd (ArenaConsumer *consumer)
{
  return ARENA_WORKER (consumer)->child.pidfd;
}

static const ArenaConsumerHooks hooks = {
  .spawn = spawn,
  .reap = reap,
  .end_step = end_step,
  .wait = wait_for_end,
  .get_pidfd = get_pidfd,
};

static gboolean
arena_worker_init_sync (GInitable     *initable,
                        GCancellable  *cancellable,
                        GError       **error)
{
  ArenaWorker *self = ARENA_WORKER (initable);

  if (self->argv == NULL || self->argv[0] == NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "A worker needs a program to start");
      return FALSE;
    }

  arena_consumer_get_private (ARENA_CONSUMER (self))->hooks = &hooks;
  return parent_initable_iface->init (initable, cancellable, error);
}

static void
arena_worker_initable_iface_init (GInitableIface *iface)
{
  parent_initable_iface = g_type_interface_peek_parent (iface);
  iface->init = arena_worker_init_sync;
}

static void
arena_worker_set_property (GObject      *object,
                           guint         property_id,
                           const GValue *value,
                           GParamSpec   *pspec)
{
  ArenaWorker *self = ARENA_WORKER (object);

  switch (property_id)
    {
    case PROP_ARGV:
      self->argv = g_value_dup_boxed (value);
      break;
    case PROP_ENVIRON:
      self->environ = g_value_dup_boxed (value);
      break;
    case PROP_CWD:
      self->cwd = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_worker_get_property (GObject    *object,
                           guint       property_id,
                           GValue     *value,
                           GParamSpec *pspec)
{
  ArenaWorker *self = ARENA_WORKER (object);

  switch (property_id)
    {
    case PROP_ARGV:
      g_value_set_boxed (value, self->argv);
      break;
    case PROP_ENVIRON:
      g_value_set_boxed (value, self->environ);
      break;
    case PROP_CWD:
      g_value_set_string (value, self->cwd);
      break;
    case PROP_PID:
      g_value_set_int64 (value, self->pid);
      break;
    case PROP_EXIT_STATUS:
      g_value_set_int (value, arena_worker_get_exit_status (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

void
arena_worker_dismiss (ArenaWorker *self)
{
  arena_channel_set_state (arena_consumer_get_private (ARENA_CONSUMER (self))->channel,
                           ARENA_STATE_SHUTDOWN | ARENA_STATE_CLOSED);
}

void
arena_worker_end (ArenaWorker *self,
                  gint64       deadline)
{
  if (wait_child (self, MAX (deadline - g_get_monotonic_time (), 0), NULL, NULL))
    return;

  arena_child_signal (&self->child, SIGKILL);
  wait_child (self, kill_time (self), NULL, NULL);
}

/* Not closed, or its closing failed: the worker leaves by itself when told and hung up on, or is killed. */
static void
end_at_once (ArenaWorker *self)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (ARENA_CONSUMER (self));

  if (self->pid == 0 || priv->channel == NULL || !arena_channel_check_fork (priv->channel, NULL))
    return;

  arena_worker_dismiss (self);
  arena_worker_end (self, g_get_monotonic_time () + arena_timing.dispose_grace);
}

static void
arena_worker_dispose (GObject *object)
{
  ArenaWorker *self = ARENA_WORKER (object);

  end_at_once (self);
  arena_worker_entry_remove (&self->entry);

  G_OBJECT_CLASS (arena_worker_parent_class)->dispose (object);
}

static void
arena_worker_finalize (GObject *object)
{
  ArenaWorker *self = ARENA_WORKER (object);

  arena_child_clear (&self->child);
  g_strfreev (self->argv);
  g_strfreev (self->environ);
  g_free (self->cwd);

  G_OBJECT_CLASS (arena_worker_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *object_class)
{
  GParamFlags construct = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
  GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  /**
   * ArenaWorker:argv: (getter get_argv)
   *
   * The program, looked up in `PATH`, and its arguments.
   *
   * Since: 0.1
   */
  properties[PROP_ARGV] = g_param_spec_boxed ("argv", NULL, NULL, G_TYPE_STRV, construct);

  /**
   * ArenaWorker:environ: (getter get_environ)
   *
   * The worker's environment as `NAME=value`, or `NULL` for this process's.
   *
   * Since: 0.1
   */
  properties[PROP_ENVIRON] = g_param_spec_boxed ("environ", NULL, NULL, G_TYPE_STRV, construct);

  /**
   * ArenaWorker:cwd: (getter get_cwd)
   *
   * The worker's working directory, or `NULL` for this process's.
   *
   * Since: 0.1
   */
  properties[PROP_CWD] = g_param_spec_string ("cwd", NULL, NULL, NULL, construct);

  /**
   * ArenaWorker:pid: (getter get_pid)
   *
   * The worker's process number, for messages; it stays after the worker's end.
   *
   * Since: 0.1
   */
  properties[PROP_PID] = g_param_spec_int64 ("pid", NULL, NULL, 0, G_MAXINT64, 0, readable);

  /**
   * ArenaWorker:exit-status: (getter get_exit_status)
   *
   * How the worker ended, as of `waitpid()`; -1 while it runs, or where that can't be known.
   *
   * Since: 0.1
   */
  properties[PROP_EXIT_STATUS] = g_param_spec_int ("exit-status", NULL, NULL, -1, G_MAXINT, -1, readable);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
arena_worker_class_init (ArenaWorkerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = arena_worker_set_property;
  object_class->get_property = arena_worker_get_property;
  object_class->dispose = arena_worker_dispose;
  object_class->finalize = arena_worker_finalize;
  install_properties (object_class);
}

static void
arena_worker_init (ArenaWorker *self)
{
  arena_child_init (&self->child);
}

/**
 * arena_worker_new:
 * @backend: a pool or a ring that no boundary has taken over yet
 * @argv: (array zero-terminated=1): the program, looked up in `PATH`, and its arguments
 * @buffer_size: how many units may be queued, at least 1
 * @error: return location for an error, or `NULL`
 *
 * Starts a worker and takes @backend over.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` where the program can't be started, and as of [ctor@Arena.Consumer.new].
 *
 * Returns: (transfer full): the worker, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaWorker *
arena_worker_new (ArenaBackend        *backend,
                  const char * const  *argv,
                  guint                buffer_size,
                  GError             **error)
{
  g_return_val_if_fail (ARENA_IS_BACKEND (backend), NULL);
  g_return_val_if_fail (argv != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (ARENA_TYPE_WORKER, NULL, error, "backend", backend, "argv", argv, "buffer-size", buffer_size,
                         NULL);
}

/**
 * arena_worker_get_argv: (get-property argv)
 * @self: a worker
 *
 * Gets the program and its arguments.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the arguments, or `NULL` where none were given
 *
 * Since: 0.1
 */
const char * const *
arena_worker_get_argv (ArenaWorker *self)
{
  g_return_val_if_fail (ARENA_IS_WORKER (self), NULL);

  return (const char * const *) self->argv;
}

/**
 * arena_worker_get_environ: (get-property environ)
 * @self: a worker
 *
 * Gets the worker's environment.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): `NAME=value`, or `NULL` for this process's
 *
 * Since: 0.1
 */
const char * const *
arena_worker_get_environ (ArenaWorker *self)
{
  g_return_val_if_fail (ARENA_IS_WORKER (self), NULL);

  return (const char * const *) self->environ;
}

/**
 * arena_worker_get_cwd: (get-property cwd)
 * @self: a worker
 *
 * Gets the worker's working directory.
 *
 * Returns: (nullable): the directory, or `NULL` for this process's
 *
 * Since: 0.1
 */
const char *
arena_worker_get_cwd (ArenaWorker *self)
{
  g_return_val_if_fail (ARENA_IS_WORKER (self), NULL);

  return self->cwd;
}

/**
 * arena_worker_get_pid: (get-property pid)
 * @self: a worker
 *
 * Gets the worker's process number, for messages; it stays after the worker's end.
 *
 * Returns: the number, 0 where no worker was started
 *
 * Since: 0.1
 */
gint64
arena_worker_get_pid (ArenaWorker *self)
{
  g_return_val_if_fail (ARENA_IS_WORKER (self), 0);

  return self->pid;
}

/**
 * arena_worker_get_exit_status: (get-property exit-status)
 * @self: a worker
 *
 * Gets how the worker ended; known once a call has failed with `ARENA_ERROR_PEER_GONE` or the worker was closed.
 *
 * Returns: as of `waitpid()`, see [func@GLib.spawn_check_wait_status]; -1 while it runs, or where that can't be known
 *
 * Since: 0.1
 */
int
arena_worker_get_exit_status (ArenaWorker *self)
{
  g_return_val_if_fail (ARENA_IS_WORKER (self), -1);

  /* Not the child's own word: in a forked child nobody could give its mutex back. */
  return atomic_load_explicit (&arena_consumer_get_private (ARENA_CONSUMER (self))->wait_status, memory_order_relaxed);
}
