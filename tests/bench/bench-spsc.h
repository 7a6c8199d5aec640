/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdatomic.h>
#include <string.h>

G_BEGIN_DECLS

/* The base of the queue: the least that a queue between two processes with sleeping sides can do. 64-byte slots, the
 * peer's index cached, the own one published by a seq_cst store which is followed by a look whether the peer sleeps. */

#define BENCH_SPSC_SLOT 64

typedef struct
{
  _Alignas (128) _Atomic guint64 head;
  _Alignas (128) _Atomic guint64 want_head;
  _Alignas (128) _Atomic guint64 tail;
  _Alignas (128) _Atomic guint64 want_tail;
  _Alignas (128) guint8 slots[][BENCH_SPSC_SLOT];
} BenchSpsc;

typedef struct
{
  BenchSpsc *queue;
  guint64    n_slots;
  guint64    own;    /* the index this side moves */
  guint64    cached; /* the other one, as last seen */
} BenchSpscEnd;

/* Makes a queue, in a file. */
int          bench_spsc_new (gsize n_slots);
/* This process's end of it, which is used as the one or the other. */
BenchSpscEnd bench_spsc_map (int   fd,
                             gsize n_slots);

static inline gboolean
bench_spsc_crosses (_Atomic guint64 *want,
                    guint64          value)
{
  return atomic_load_explicit (want, memory_order_seq_cst) == value;
}

/* Both: FALSE where there is no room, or nothing. TRUE in @wake: the peer would have to be woken. */
static inline gboolean
bench_spsc_push (BenchSpscEnd  *self,
                 gconstpointer  slot,
                 gboolean      *wake)
{
  BenchSpsc *queue = self->queue;

  if (self->own - self->cached == self->n_slots)
    {
      self->cached = atomic_load_explicit (&queue->tail, memory_order_acquire);
      if (self->own - self->cached == self->n_slots)
        return FALSE;
    }

  memcpy (queue->slots[self->own % self->n_slots], slot, BENCH_SPSC_SLOT);
  atomic_store_explicit (&queue->head, ++self->own, memory_order_seq_cst);
  *wake = bench_spsc_crosses (&queue->want_head, self->own);
  return TRUE;
}

static inline gboolean
bench_spsc_pop (BenchSpscEnd *self,
                gpointer      slot,
                gboolean     *wake)
{
  BenchSpsc *queue = self->queue;

  if (self->own == self->cached)
    {
      self->cached = atomic_load_explicit (&queue->head, memory_order_acquire);
      if (self->own == self->cached)
        return FALSE;
    }

  memcpy (slot, queue->slots[self->own % self->n_slots], BENCH_SPSC_SLOT);
  atomic_store_explicit (&queue->tail, ++self->own, memory_order_seq_cst);
  *wake = bench_spsc_crosses (&queue->want_tail, self->own);
  return TRUE;
}

G_END_DECLS
