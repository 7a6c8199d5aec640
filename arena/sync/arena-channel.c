/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-channel-private.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "memory/arena-fork-private.h"
#include "memory/arena-memfd-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"

/* Lifetime and state of a channel; arena-channel-connect.c joins the two processes.
 *
 * Nothing here is locked. State words only gain bits; whatever changes one then wakes both sides without looking who
 * sleeps. In a forked child the control pages are absent (MADV_DONTFORK): every path to them is behind the fork check.
 */

static void
init_consumer_page (ArenaConsumerPage   *page,
                    const ArenaGeometry *geometry)
{
  guint64 n = geometry->n_segments;
  guint64 first = geometry->first_sequence;

  atomic_store_explicit (&page->qtail, geometry->first_cursor, memory_order_relaxed);
  atomic_store_explicit (&page->released, geometry->first_cursor, memory_order_relaxed);

  /* The one value of [s0 - N, s0) that is i mod N: as if a lap had gone before, so that none is special. Zeroes would
   * pass for "released" on the lap that starts at N. */
  for (guint64 s = first - n; s < first; s++)
    atomic_store_explicit (&page->freed[s % n], s, memory_order_relaxed);
}

static gboolean
make_consumer_page (ArenaChannel  *self,
                    GError       **error)
{
  guint64 size = arena_geometry_consumer_page_size (&self->geometry);

  self->page_fd = arena_memfd_new ("arena-consumer", size, NULL, error);
  if (self->page_fd < 0)
    return FALSE;

  self->consumer_mapping = arena_mapping_new (self->page_fd, (gsize) size,
                                              ARENA_MAPPING_WRITABLE | ARENA_MAPPING_CONTROL, error);
  if (self->consumer_mapping == NULL)
    return FALSE;

  self->cc = (ArenaConsumerPage *) (void *) arena_mapping_get_data (self->consumer_mapping);
  init_consumer_page (self->cc, &self->geometry);
  return arena_memfd_seal (self->page_fd, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL, error);
}

ArenaChannel *
arena_channel_alloc (ArenaRole role)
{
  ArenaChannel *self = g_new0 (ArenaChannel, 1);

  atomic_init (&self->ref_count, 1);
  self->role = role;
  self->fork_generation = arena_fork_generation ();
  self->page_fd = -1;
  self->wake_producer = -1;
  self->wake_consumer = -1;
  self->remote_socket = -1;
  arena_peer_init (&self->peer);
  return self;
}

ArenaChannel *
arena_channel_new (const ArenaGeometry  *geometry,
                   GError              **error)
{
  g_autoptr(ArenaChannel) self = arena_channel_alloc (ARENA_ROLE_CONSUMER);

  self->geometry = *geometry;
  self->wake_producer = arena_event_new (error);
  if (self->wake_producer < 0)
    return NULL;

  self->wake_consumer = arena_event_new (error);
  if (self->wake_consumer < 0 || !make_consumer_page (self, error))
    return NULL;

  return g_steal_pointer (&self);
}

ArenaChannel *
arena_channel_ref (ArenaChannel *self)
{
  atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);
  return self;
}

void
arena_channel_unref (ArenaChannel *self)
{
  if (atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) != 1)
    return;

  g_clear_pointer (&self->consumer_mapping, arena_mapping_unref);
  g_clear_pointer (&self->producer_mapping, arena_mapping_unref);
  arena_peer_clear (&self->peer);
  g_clear_fd (&self->page_fd, NULL);
  g_clear_fd (&self->wake_producer, NULL);
  g_clear_fd (&self->wake_consumer, NULL);
  g_clear_fd (&self->remote_socket, NULL);
  g_free (self);
}

gboolean
arena_channel_set_queue (ArenaChannel  *self,
                         guint64        queue_size,
                         guint64        envelope_size,
                         guint64        threshold,
                         GError       **error)
{
  return arena_geometry_set_queue (&self->geometry, queue_size, envelope_size, threshold, error);
}

gboolean
arena_channel_check_fork (const ArenaChannel  *self,
                          GError             **error)
{
  if (G_LIKELY (arena_fork_is_current (self->fork_generation)))
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_FORKED,
                       "This arena was opened before fork() and belongs to the parent process; create one here");
  return FALSE;
}

void
arena_channel_set_state (ArenaChannel *self,
                         guint         state)
{
  if (!arena_fork_is_current (self->fork_generation))
    return;

  atomic_fetch_or_explicit (&self->local_state, state, memory_order_seq_cst);
  if (self->role == ARENA_ROLE_CONSUMER)
    atomic_fetch_or_explicit (&self->cc->state, state, memory_order_seq_cst);
  else
    atomic_fetch_or_explicit (&self->cp->state, state, memory_order_seq_cst);

  arena_kill_point (ARENA_KILL_AFTER_STATE_STORE);
  arena_event_signal (self->wake_producer);
  arena_event_signal (self->wake_consumer);
}

/* FALSE with CLOSED where @state, of @who, has a bit set. */
static gboolean
check_state (guint64      state,
             const char  *who,
             GError     **error)
{
  if (G_LIKELY (state == 0))
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "%s %s", who,
               (state & ARENA_STATE_CLOSED) != 0 ? "closed the arena" : "shut the arena down");
  return FALSE;
}

gboolean
arena_channel_check_open (const ArenaChannel  *self,
                          GError             **error)
{
  return arena_channel_check_fork (self, error) &&
         check_state (atomic_load_explicit (&self->local_state, memory_order_relaxed) & ARENA_STATE_CLOSED,
                      "This process", error);
}

static gboolean
check_peer (ArenaChannel  *self,
            const char    *who,
            GError       **error)
{
  g_autofree char *how = NULL;

  if (G_LIKELY (!arena_peer_is_gone (&self->peer)))
    return TRUE;

  how = arena_peer_describe (&self->peer);
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "%s is gone: %s", who, how);
  return FALSE;
}

gboolean
arena_channel_check_producer (ArenaChannel  *self,
                              guint64        epoch,
                              GError       **error)
{
  if (!check_state (atomic_load_explicit (&self->local_state, memory_order_seq_cst), "This process", error) ||
      !check_state (atomic_load_explicit (&self->cc->state, memory_order_seq_cst), "The consumer", error))
    return FALSE;

  if (epoch != 0 && atomic_load_explicit (&self->cc->stop_epoch, memory_order_seq_cst) >= epoch)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED,
                   "The consumer stopped iteration %" G_GUINT64_FORMAT "; finish it and wait for the next", epoch);
      return FALSE;
    }

  return check_peer (self, "The consumer", error);
}

gboolean
arena_channel_check_consumer (ArenaChannel  *self,
                              GError       **error)
{
  if (!check_state (atomic_load_explicit (&self->local_state, memory_order_seq_cst), "This process", error))
    return FALSE;

  if (self->cp != NULL &&
      !check_state (atomic_load_explicit (&self->cp->state, memory_order_seq_cst), "The producer", error))
    return FALSE;

  return check_peer (self, "The producer", error);
}
