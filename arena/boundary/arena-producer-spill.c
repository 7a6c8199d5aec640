/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-producer-private.h"

#include "base/arena-error.h"
#include "boundary/arena-spill-private.h"

/* A commit waits in one case only: a part of its unit travels outside of the arena, and no descriptor can be sent. Either
 * the socket is full of those that the consumer has not come to: it takes one off with each unit it reads, so the socket
 * empties with the queue, and the kernel wakes whoever polls for room. Or this user has as many on their way, in all
 * programs together, as the kernel allows: that passes as well, but nobody tells, so it is tried again and again. */

#define FIRST_PAUSE   1000
#define LONGEST_PAUSE 64000

typedef struct
{
  ArenaProducer *producer;
  int            fd;
  guint64        fields_size;
  GError        *refusal; /* of the last try, where it was not the socket that was full */
  gint64         pause;   /* microseconds until the next one */
} Sending;

static ArenaWaitStatus
try_to_send (gpointer   data,
             GError   **error)
{
  Sending *self = data;
  ArenaProducer *producer = self->producer;
  g_autoptr(GError) local_error = NULL;

  g_clear_error (&self->refusal);
  if (!arena_channel_check_producer (producer->channel, producer->epoch, error))
    return ARENA_WAIT_FAILED;
  if (arena_spill_send (producer->channel, &producer->spill_number, producer->unit, self->fd, self->fields_size,
                        &local_error))
    return ARENA_WAIT_DONE;
  if (g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
    return ARENA_WAIT_PENDING;

  if (g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_NO_SPACE))
    {
      self->refusal = g_steal_pointer (&local_error);
      return ARENA_WAIT_PENDING;
    }
  g_propagate_error (error, g_steal_pointer (&local_error));
  return ARENA_WAIT_FAILED;
}

static void
arm_nothing (gpointer data G_GNUC_UNUSED)
{
}

static ArenaWaitStatus
settle (gpointer   data,
        gint64    *sleep_us,
        GError   **error G_GNUC_UNUSED)
{
  Sending *self = data;

  /* A socket with room would end each poll at once. */
  self->producer->waiter.want_room = self->refusal == NULL;
  if (self->refusal != NULL)
    {
      *sleep_us = self->pause;
      self->pause = MIN (2 * self->pause, LONGEST_PAUSE);
    }
  return ARENA_WAIT_PENDING;
}

static const ArenaWaitOps send_ops = {
  .what = "room in the socket",
  .check = try_to_send,
  .arm = arm_nothing,
  .settle = settle,
};

gboolean
arena_producer_send_spill (ArenaProducer  *self,
                           int             fd,
                           guint64         fields_size,
                           guint64         size,
                           GError        **error)
{
  Sending sending = { self, fd, fields_size, NULL, FIRST_PAUSE };
  guint64 n_waits = self->waiter.n_waits;
  gboolean sent;

  if (!arena_waiter_enter (&self->waiter, error))
    return FALSE;

  self->waiter.want_room = TRUE;
  sent = arena_waiter_wait (&self->waiter, &send_ops, &sending, self->deadline, self->cancellable, error);
  if (sent)
    self->spilled = size;
  else if (sending.refusal != NULL)
    g_prefix_error (error, "%s; ", sending.refusal->message);
  self->waiter.want_room = FALSE;
  arena_producer_tell_waits (self, n_waits);
  arena_waiter_leave (&self->waiter);
  g_clear_error (&sending.refusal);
  return sent;
}

void
arena_producer_announce_spill (ArenaProducer *self,
                               ArenaSlot     *slot)
{
  ArenaWord *total = &self->channel->cp->spilled;

  slot->spilled = 1;
  atomic_store_explicit (total, atomic_load_explicit (total, memory_order_relaxed) + self->spilled, memory_order_relaxed);
  self->spilled = 0;
}
