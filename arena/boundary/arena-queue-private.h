/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sync/arena-channel-private.h"

G_BEGIN_DECLS

/* The queue of a boundary: buffer_size slots for units and two more that are kept for END and ERROR, so that neither
 * ever waits. Both ends borrow the channel. */

typedef struct
{
  ArenaChannel *channel;
  guint64       head; /* published by us */
  guint64       tail; /* the consumer's, as last seen */
} ArenaQueueOut;

void       arena_queue_out_init     (ArenaQueueOut    *self,
                                     ArenaChannel     *channel);
/* Whether a unit may be begun. FALSE with error: PROTOCOL, a broken cursor. */
gboolean   arena_queue_out_has_room (ArenaQueueOut    *self,
                                     GError          **error);
void       arena_queue_out_arm      (ArenaQueueOut    *self);
/* Fetches the lines of the slot that publish() will send, while the unit's bytes are still being copied: the consumer
 * read them one lap ago. */
void       arena_queue_out_prefetch (ArenaQueueOut    *self);
/* The envelope area of the slot that publish() will send. */
guint8    *arena_queue_out_envelope (ArenaQueueOut    *self);
void       arena_queue_out_publish  (ArenaQueueOut    *self,
                                     const ArenaSlot  *slot);

typedef struct
{
  ArenaChannel *channel;
  guint64       tail; /* copied out by us */
  guint64       head; /* the producer's, as last seen */
} ArenaQueueIn;

void       arena_queue_in_init      (ArenaQueueIn     *self,
                                     ArenaChannel     *channel);
/* Whether a descriptor is there. FALSE with error: PROTOCOL. */
gboolean   arena_queue_in_has_slot  (ArenaQueueIn     *self,
                                     GError          **error);
void       arena_queue_in_arm       (ArenaQueueIn     *self);
/* Takes the descriptor that has_slot() saw: copies it and its envelope (g_malloc'ed, NULL if empty or outside) once,
 * checks the copy, and gives the slot back. PROTOCOL for anything that can't be. */
gboolean   arena_queue_in_take      (ArenaQueueIn     *self,
                                     ArenaSlot        *slot,
                                     guint8          **envelope,
                                     GError          **error);

G_END_DECLS
