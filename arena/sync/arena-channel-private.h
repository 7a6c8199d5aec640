/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "memory/arena-mapping-private.h"
#include "sync/arena-control-layout-private.h"
#include "sync/arena-hello-private.h"
#include "sync/arena-peer-private.h"

G_BEGIN_DECLS

typedef enum
{
  ARENA_ROLE_CONSUMER, /* made the channel; in one process it may play both parts */
  ARENA_ROLE_PRODUCER, /* attached to it through a hello */
} ArenaRole;

/* What two processes share beside the data: control pages, events, the socket between them. Reference-counted
 * atomically: endpoints, leases, running calls and attached sources each hold one, and whoever drops the last one, on
 * any thread, unmaps and closes. Closing before that only changes state words. */
typedef struct
{
  _Atomic guint      ref_count;        /* C11: ThreadSanitizer can't see into GLib's */
  ArenaRole          role;
  guint              fork_generation;
  ArenaGeometry      geometry;         /* private; the shared hello is never read again */
  ArenaMapping      *consumer_mapping;
  ArenaMapping      *producer_mapping; /* NULL in the consumer until the producer has attached */
  ArenaConsumerPage *cc;
  _Atomic (ArenaProducerPage *) cp;    /* likewise */
  int                page_fd;          /* of the own page, until it has been sent to the other side; else -1 */
  int                wake_producer;    /* events, named after who sleeps on them */
  int                wake_consumer;
  int                remote_socket;    /* consumer: the peer's end until it is handed over, else -1 */
  ArenaPeer          peer;
  _Atomic guint      local_state;      /* ARENA_STATE_* as asked for in this process */
  _Atomic guint      attached;         /* a producer is, was or may become: an arena serves one in its life */
} ArenaChannel;

/* Consumer. Makes the consumer page and the events for @geometry (without its queue). freed[] starts as the one value
 * in [s0 - N, s0) that is i mod N, so no lap is special. */
ArenaChannel *arena_channel_new              (const ArenaGeometry  *geometry,
                                              GError              **error) G_GNUC_WARN_UNUSED_RESULT;
/* An empty one, for the constructors. */
ArenaChannel *arena_channel_alloc            (ArenaRole             role) G_GNUC_WARN_UNUSED_RESULT;
ArenaChannel *arena_channel_ref              (ArenaChannel         *self);
void          arena_channel_unref            (ArenaChannel         *self);

/* Consumer, before any producer: adds a queue. */
gboolean      arena_channel_set_queue        (ArenaChannel         *self,
                                              guint64               queue_size,
                                              guint64               envelope_size,
                                              guint64               threshold,
                                              GError              **error);
/* Consumer: makes the socket pair and leaves the hello in it; @data_fd is the arena's data or -1. */
gboolean      arena_channel_invite           (ArenaChannel         *self,
                                              int                   data_fd,
                                              GError              **error);
/* Takes an invitation back that nobody has got yet: as if it had never been made. */
void          arena_channel_uninvite         (ArenaChannel         *self);
/* Consumer, after invite: the end to hand to the producer's process, once: NOT_SUPPORTED afterwards. From then on only
 * that process keeps it open, so its death hangs up. */
int           arena_channel_steal_remote     (ArenaChannel         *self,
                                              GError              **error);
/* Consumer: takes the producer's answer if it is there. WOULD_BLOCK while it isn't. Idempotent. */
gboolean      arena_channel_accept           (ArenaChannel         *self,
                                              GError              **error);
/* Consumer: makes the producer page in this process, for a writer beside the reader (threads of one process). */
gboolean      arena_channel_attach_local     (ArenaChannel         *self,
                                              GError              **error);
/* Producer: reads the hello waiting on @socket (taken over in any case) and maps the control pages. @data_fd gets the
 * arena's data, checked, or -1. The consumer learns of it only by answer(), once everything else is mapped too. */
ArenaChannel *arena_channel_attach           (int                   socket,
                                              int                  *data_fd,
                                              GError              **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean      arena_channel_answer           (ArenaChannel         *self,
                                              GError              **error);

/* Every public entry calls this before it touches a shared word: FORKED in a child of the process that opened. */
gboolean      arena_channel_check_fork       (const ArenaChannel   *self,
                                              GError              **error);
/* The same for the calls that a close ends: FORKED, CLOSED. */
gboolean      arena_channel_check_open       (const ArenaChannel   *self,
                                              GError              **error);
/* Sets ARENA_STATE_* bits in this process and in its own page, then wakes both sides, the own one included. */
void          arena_channel_set_state        (ArenaChannel         *self,
                                              guint                 state);

/* What ends a producer's wait besides its cursor, @epoch the one it runs (0: none): CLOSED (own or the consumer's
 * close, shutdown, or a stop of @epoch), PEER_GONE. FALSE with error set. */
gboolean      arena_channel_check_producer   (ArenaChannel         *self,
                                              guint64               epoch,
                                              GError              **error);
/* What ends a consumer's wait: CLOSED, PEER_GONE. Look at the cursor after the peer's death and before this. */
gboolean      arena_channel_check_consumer   (ArenaChannel         *self,
                                              GError              **error);

static inline ArenaSlot *
arena_channel_slot (const ArenaChannel *self,
                    guint64             number)
{
  guint64 n_slots = self->geometry.queue_size + 2;
  guint64 stride = sizeof (ArenaSlot) + self->geometry.envelope_size;

  return (ArenaSlot *) (void *) ((guint8 *) self->cp + ARENA_SLOTS_OFFSET + (number % n_slots) * stride);
}

/* With ARENA_REUSE_ANY: which segment this sequence is in, as the producer says. Stored before it publishes, and kept as
 * long as the unit is unread: unread units are consecutive and each occupies a segment. */
static inline ArenaWord *
arena_channel_segment (const ArenaChannel *self,
                       guint64             sequence)
{
  ArenaWord *segments = (ArenaWord *) (void *) ((guint8 *) self->cp + arena_geometry_segments_offset (&self->geometry));

  return &segments[sequence % self->geometry.n_segments];
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaChannel, arena_channel_unref)

G_END_DECLS
