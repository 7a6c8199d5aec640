/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-producer-private.h"

#include "boundary/arena-spill-private.h"
#include "sync/arena-socket-private.h"

/* A commit waits in one case only: a part of its unit travels outside of the arena, and the socket is full of descriptors
 * that the consumer has not come to. It takes one off with each unit it reads, so the socket empties with the queue. */

static ArenaWaitStatus
check_socket (gpointer   data,
              GError   **error)
{
  ArenaProducer *self = data;

  if (!arena_channel_check_producer (self->channel, self->epoch, error))
    return ARENA_WAIT_FAILED;

  return arena_socket_can_send (self->channel->peer.socket) ? ARENA_WAIT_DONE : ARENA_WAIT_PENDING;
}

/* The kernel wakes by itself whoever polls for room. */
static void
arm_nothing (gpointer data G_GNUC_UNUSED)
{
}

static const ArenaWaitOps socket_ops = {
  .what = "room in the socket",
  .check = check_socket,
  .arm = arm_nothing,
};

gboolean
arena_producer_wait_to_send (ArenaProducer  *self,
                             GError        **error)
{
  guint64 n_waits = self->waiter.n_waits;
  gboolean ready;

  if (!arena_waiter_enter (&self->waiter, error))
    return FALSE;

  self->waiter.want_room = TRUE;
  ready = arena_waiter_wait (&self->waiter, &socket_ops, self, self->deadline, self->cancellable, error);
  self->waiter.want_room = FALSE;
  arena_producer_tell_waits (self, n_waits);
  arena_waiter_leave (&self->waiter);
  return ready;
}

gboolean
arena_producer_send_spill (ArenaProducer  *self,
                           int             fd,
                           guint64         fields_size,
                           guint64         size,
                           GError        **error)
{
  if (!arena_spill_send (self->channel, &self->spill_number, self->unit, fd, fields_size, error))
    return FALSE;

  self->spilled = size;
  return TRUE;
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
