/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-producer-private.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena-error-private.h"
#include "unit/arena-unit-builder-private.h"

/**
 * ArenaProducer:
 *
 * The sending end of a boundary, in the worker's process.
 *
 * ```c
 * while (arena_producer_wait_iteration (producer, -1, NULL, NULL, &error))
 *   {
 *     g_autoptr(GError) failure = NULL;
 *
 *     if (send_batches (producer, &failure))
 *       arena_producer_finish_iteration (producer, NULL);
 *     else
 *       arena_producer_fail_with_error (producer, failure, -1, NULL);
 *   }
 * ```
 *
 * When the consumer stops an iteration or closes, calls of the open unit fail with `ARENA_ERROR_CLOSED`: end the
 * iteration either way, nobody reads how, and wait for the next. A producer is used by one thread; sending is over when
 * it is dropped.
 *
 * Since: 0.1
 */

#define WORKER_FD_VARIABLE "ARENA_WORKER_FD"

G_DEFINE_FINAL_TYPE (ArenaProducer, arena_producer, G_TYPE_OBJECT)

/* A wait that said WOULD_BLOCK left its need standing. From the next call on this side is busy with something else, and a
 * consumer that still saw it would call itself the cause of a wait that is over. */
void
arena_producer_forget_need (ArenaProducer *self)
{
  ArenaProducerPage *cp = self->channel->cp;

  if (G_UNLIKELY (atomic_load_explicit (&cp->need, memory_order_relaxed) != 0))
    atomic_store_explicit (&cp->need, 0, memory_order_seq_cst);
}

gboolean
arena_producer_check_usable (ArenaProducer  *self,
                             GError        **error)
{
  if (self->channel != NULL)
    return arena_channel_check_fork (self->channel, error);

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "This producer was made without a constructor");
  return FALSE;
}

gboolean
arena_producer_check_running (ArenaProducer  *self,
                              GError        **error)
{
  if (!arena_producer_check_usable (self, error))
    return FALSE;

  if (self->running)
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "No iteration is running; wait for one first");
  return FALSE;
}

/* What is left of the open unit's time, as a timeout. A deadline that has just passed must not become a try. */
static gint64
remaining_time (const ArenaProducer *self)
{
  if (self->deadline <= 0)
    return self->deadline;

  return MAX (self->deadline - g_get_monotonic_time (), 1);
}

gboolean
arena_producer_acquire (ArenaProducer  *self,
                        gsize           size,
                        GError        **error)
{
  return arena_writer_calls_begin_unit (&self->calls, size, remaining_time (self), self->cancellable, error);
}

static gboolean
sink_acquire (gpointer   owner,
              gsize      size,
              GError   **error)
{
  return arena_producer_acquire (owner, size, error);
}

void
arena_producer_end_unit (ArenaProducer *self)
{
  g_clear_object (&self->cancellable);
}

static gboolean
sink_publish (gpointer   owner,
              gsize      envelope_size,
              guint64    span,
              guint64    offset,
              guint64    size,
              GError   **error G_GNUC_UNUSED)
{
  ArenaProducer *self = owner;
  ArenaSlot slot = {
    .unit = self->unit,
    .epoch = self->epoch,
    .span = span,
    .offset = offset,
    .size = size,
    .envelope_size = (guint32) envelope_size,
    .kind = ARENA_SLOT_UNIT,
  };

  if (size > 0 && self->channel->geometry.kind == ARENA_KIND_POOL)
    slot.index = (guint32) (offset / self->channel->geometry.stride);
  if (G_UNLIKELY (self->spilled > 0))
    arena_producer_announce_spill (self, &slot);

  arena_queue_out_publish (&self->queue, &slot);
  self->unit++;
  arena_producer_end_unit (self);
  return TRUE;
}

static gboolean
sink_send (gpointer   owner,
           int        fd,
           guint64    fields_size,
           guint64    size,
           GError   **error)
{
  return arena_producer_send_spill (owner, fd, fields_size, size, error);
}

static void
sink_abandon (gpointer owner)
{
  ArenaProducer *self = owner;

  self->spilled = 0;
  arena_producer_end_unit (self);
}

static gboolean
sink_check (gpointer   owner,
            GError   **error)
{
  ArenaProducer *self = owner;

  return arena_producer_check_running (self, error) && arena_channel_check_producer (self->channel, self->epoch, error);
}

static const ArenaUnitSink sink = {
  .acquire = sink_acquire,
  .publish = sink_publish,
  .send = sink_send,
  .abandon = sink_abandon,
  .check = sink_check,
};

static void
arena_producer_dispose (GObject *object)
{
  ArenaProducer *self = ARENA_PRODUCER (object);

  /* Buffers that are still lent keep the socket open, but nothing comes through it any more. A child would hang up on its
   * parent's behalf. */
  if (self->channel != NULL && arena_channel_check_fork (self->channel, NULL))
    shutdown (self->channel->peer.socket, SHUT_RDWR);

  if (self->builder != NULL)
    arena_unit_builder_detach (self->builder);
  g_clear_object (&self->builder);
  g_clear_object (&self->writer);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->channel, arena_channel_unref);

  G_OBJECT_CLASS (arena_producer_parent_class)->dispose (object);
}

static void
arena_producer_class_init (ArenaProducerClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = arena_producer_dispose;
}

static void
arena_producer_init (ArenaProducer *self G_GNUC_UNUSED)
{
}

static gboolean
open_arena (ArenaProducer  *self,
            int             data_fd,
            GError        **error)
{
  g_autoptr(ArenaStorage) storage = NULL;

  if (self->channel->geometry.kind == ARENA_KIND_NONE)
    return TRUE;

  storage = arena_storage_new_attached (self->channel, data_fd, error);
  if (storage == NULL)
    return FALSE;

  self->writer = arena_storage_open_writer (storage, error);
  return self->writer != NULL;
}

/* The largest field that its place in the arena holds. */
static guint64
get_spill_limit (const ArenaGeometry *geometry)
{
  if (geometry->oversize == ARENA_OVERSIZE_ERROR)
    return G_MAXUINT64;

  return geometry->kind == ARENA_KIND_RING ? geometry->capacity : geometry->segment_size;
}

/**
 * arena_producer_new_from_fd:
 * @fd: the descriptor of [method@Arena.Consumer.dup_worker_fd], taken over in any case
 * @error: return location for an error, or `NULL`
 *
 * Attaches to a consumer and tells it so.
 *
 * Maps the arena and fills this process's page tables, so that later writes don't fault.
 *
 * Errors: `ARENA_ERROR_INVALID_ARGUMENT` where @fd is no such descriptor, `ARENA_ERROR_PROTOCOL` where the consumer's
 * hello can't be (another version of the library, say), `ARENA_ERROR_PEER_GONE` where the consumer is gone,
 * `ARENA_ERROR_NO_SPACE`.
 *
 * Returns: (transfer full): the producer, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaProducer *
arena_producer_new_from_fd (int      fd,
                            GError **error)
{
  g_autoptr(ArenaProducer) self = NULL;
  int data_fd;

  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (fd < 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "%d is no file descriptor", fd);
      return NULL;
    }

  self = g_object_new (ARENA_TYPE_PRODUCER, NULL);
  self->channel = arena_channel_attach (fd, &data_fd, error);
  if (self->channel == NULL)
    return NULL;

  if (self->channel->geometry.queue_size == 0)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "The hello describes an arena without a queue");
      if (data_fd >= 0)
        close (data_fd);
      return NULL;
    }

  if (!open_arena (self, data_fd, error) || !arena_channel_answer (self->channel, error))
    return NULL;

  arena_waiter_init (&self->waiter, self->channel->wake_producer, &self->channel->peer);
  arena_queue_out_init (&self->queue, self->channel);
  arena_writer_calls_init (&self->calls, self->writer);
  self->spill_above = get_spill_limit (&self->channel->geometry);
  self->builder = arena_unit_builder_new (self->writer, self->channel->geometry.threshold, self->spill_above, &sink, self);
  return g_steal_pointer (&self);
}

/**
 * arena_producer_new_from_environment:
 * @error: return location for an error, or `NULL`
 *
 * Attaches to the consumer that started this process as its worker.
 *
 * Takes the descriptor named by the environment variable `ARENA_WORKER_FD` and unsets the variable, so that no program
 * started from here takes itself for the worker. SIGINT is ignored from here on: an interrupt at the terminal goes to the
 * whole group, and the consumer ends its worker. Call it before the program starts threads, which may read the environment.
 *
 * Errors: `ARENA_ERROR_INVALID_STATE` where the variable isn't set or names no descriptor, and as of
 * [ctor@Arena.Producer.new_from_fd].
 *
 * Returns: (transfer full): the producer, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaProducer *
arena_producer_new_from_environment (GError **error)
{
  const char *text = g_getenv (WORKER_FD_VARIABLE);
  guint64 fd;

  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, &fd, NULL))
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                   "%s is %s: this program has to be started as a worker", WORKER_FD_VARIABLE,
                   text == NULL ? "not set" : "no file descriptor");
      return NULL;
    }

  g_unsetenv (WORKER_FD_VARIABLE);
  signal (SIGINT, SIG_IGN);
  return arena_producer_new_from_fd ((int) fd, error);
}
