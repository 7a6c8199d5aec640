/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-starvation-private.h"

/* The claim is exact. In order: `need` says that the producer was waiting and for which sequence, the queue was empty, and
 * the one segment that could serve it is held here. Any: `need` - 1 segments are free but on loan over there, and all the
 * others are held here. Only the waiting thread acquires, so what is held at the end of the look was held throughout;
 * hence no lock. Judging from `want`, or from "everything is held", claims too much or never.
 */

#define MAX_NAMED 8

void
arena_starvation_init (ArenaStarvation *self,
                       ArenaPoolReader *reader,
                       guint64          n_segments)
{
  *self = (ArenaStarvation) { .reader = reader };
  self->units = reader != NULL ? g_new0 (guint64, n_segments) : NULL;
}

void
arena_starvation_clear (ArenaStarvation *self)
{
  g_clear_pointer (&self->units, g_free);
}

void
arena_starvation_note (ArenaStarvation *self,
                       guint            index,
                       guint64          unit)
{
  if (self->reader != NULL)
    self->units[index] = unit;
}

void
arena_starvation_reset (ArenaStarvation *self,
                        gboolean         trying)
{
  self->trying = trying;
  self->told = FALSE;
  if (!self->timed_out)
    {
      self->since = 0;
      self->logged = FALSE;
    }
  self->timed_out = FALSE;
}

/* What the producer waits for; 0 while it doesn't. */
static guint64
get_need (const ArenaQueueIn *queue)
{
  return atomic_load_explicit (&queue->channel->cp->need, memory_order_seq_cst);
}

/* In order. */
static guint
get_wanted_segment (const ArenaQueueIn *queue,
                    guint64             need)
{
  return (guint) ((need - 1) % queue->channel->geometry.n_segments);
}

static gboolean
holds_what_is_needed (ArenaStarvation    *self,
                      const ArenaQueueIn *queue,
                      guint64             need)
{
  if (queue->channel->geometry.reuse == ARENA_REUSE_IN_ORDER)
    return arena_pool_reader_is_held (self->reader, get_wanted_segment (queue, need));

  return arena_pool_reader_n_held (self->reader) + (need - 1) == queue->channel->geometry.n_segments;
}

gboolean
arena_starvation_check (ArenaStarvation    *self,
                        const ArenaQueueIn *queue)
{
  const ArenaProducerPage *cp = queue->channel->cp;
  guint64 need;

  if (self->reader == NULL || cp == NULL)
    return FALSE;

  need = get_need (queue);
  return need != 0 &&
         atomic_load_explicit (&cp->qhead, memory_order_seq_cst) == queue->tail &&
         holds_what_is_needed (self, queue, need);
}

char *
arena_starvation_describe (ArenaStarvation    *self,
                           const ArenaQueueIn *queue)
{
  GString *text = g_string_new ("Unit");
  const ArenaGeometry *geometry = &queue->channel->geometry;
  guint64 need = get_need (queue);
  guint n = 0;

  for (guint i = 0; i < geometry->n_segments; i++)
    {
      if (!arena_pool_reader_is_held (self->reader, i))
        continue;
      if (n < MAX_NAMED)
        g_string_append_printf (text, "%s %" G_GUINT64_FORMAT, n == 0 ? "" : ",", self->units[i]);
      n++;
    }

  if (n > 1)
    g_string_insert (text, 4, "s");
  if (n > MAX_NAMED)
    g_string_append_printf (text, " and %u more", n - MAX_NAMED);
  g_string_append_printf (text, " %s held here", n > 1 ? "are" : "is");
  if (need != 0 && geometry->reuse == ARENA_REUSE_IN_ORDER)
    g_string_append_printf (text, ", and the producer waits for the segment of unit %" G_GUINT64_FORMAT,
                            self->units[get_wanted_segment (queue, need)]);
  else if (need > 1)
    g_string_append_printf (text, ", and %" G_GUINT64_FORMAT " more of its buffers are kept by the producer", need - 1);
  g_string_append_printf (text, "; release units sooner, or make the pool larger than its %" G_GUINT64_FORMAT
                          " segments", geometry->n_segments);
  return g_string_free (text, FALSE);
}
