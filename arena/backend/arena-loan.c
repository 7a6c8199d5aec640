/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-loan-private.h"

#include "memory/arena-fork-private.h"
#include "sync/arena-event-private.h"

/* `lent` is the mark. Its owner, the producer's thread, alone adds to it; any thread takes away. The mask of fields is
 * only for messages: exact below the last bit, which stands for every field from there on. */

#define LAST_BIT 63

struct _ArenaLoan
{
  gatomicrefcount ref_count;
  _Atomic guint   lent;
  _Atomic guint64 fields;
  ArenaStorage   *storage; /* holds the channel */
  ArenaMapping   *data;    /* the storage drops its own when it is closed */
  guint64         position;
  guint64         unit;
};

typedef struct
{
  ArenaLoan *loan;
  guint      field;
} Lent;

ArenaLoan *
arena_loan_new (ArenaStorage *storage,
                ArenaMapping *data,
                guint64       position,
                guint64       unit)
{
  ArenaLoan *self = g_new (ArenaLoan, 1);

  g_atomic_ref_count_init (&self->ref_count);
  atomic_init (&self->lent, 0);
  atomic_init (&self->fields, 0);
  self->storage = arena_storage_ref (storage);
  self->data = arena_mapping_ref (data);
  self->position = position;
  self->unit = unit;
  return self;
}

ArenaLoan *
arena_loan_ref (ArenaLoan *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
arena_loan_unref (ArenaLoan *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  arena_mapping_unref (self->data);
  arena_storage_unref (self->storage);
  g_free (self);
}

/* Whether the producer sleeps, or has been told to come back, for storage. A ring has no `need`: there it does if what
 * it wants hasn't been given back. */
static gboolean
is_armed (ArenaChannel *channel)
{
  ArenaProducerPage *cp = channel->cp;

  if (channel->geometry.kind == ARENA_KIND_POOL)
    return atomic_load_explicit (&cp->need, memory_order_seq_cst) != 0;

  return atomic_load_explicit (&cp->want_released, memory_order_seq_cst) >
         atomic_load_explicit (&channel->cc->released, memory_order_seq_cst);
}

static void
give_back (gpointer data)
{
  Lent *lent = data;
  ArenaLoan *self = lent->loan;
  ArenaChannel *channel = self->storage->channel;

  if (lent->field < LAST_BIT)
    atomic_fetch_and_explicit (&self->fields, ~(G_GUINT64_CONSTANT (1) << lent->field), memory_order_relaxed);

  /* First the mark, then the look at who waits for it (H7). In a forked child the pages are not there. */
  if (atomic_fetch_sub_explicit (&self->lent, 1, memory_order_seq_cst) == 1 &&
      arena_fork_is_current (channel->fork_generation) && is_armed (channel))
    arena_event_signal (channel->wake_producer);

  arena_loan_unref (self);
  g_free (lent);
}

GBytes *
arena_loan_lend (ArenaLoan *self,
                 gpointer   data,
                 gsize      size,
                 guint      field)
{
  Lent *lent = g_new (Lent, 1);

  lent->loan = arena_loan_ref (self);
  lent->field = MIN (field, LAST_BIT);
  atomic_fetch_or_explicit (&self->fields, G_GUINT64_CONSTANT (1) << lent->field, memory_order_relaxed);
  atomic_fetch_add_explicit (&self->lent, 1, memory_order_seq_cst);
  return g_bytes_new_with_free_func (data, size, give_back, lent);
}

gboolean
arena_loan_is_lent (ArenaLoan *self)
{
  return atomic_load_explicit (&self->lent, memory_order_seq_cst) != 0;
}

guint64
arena_loan_get_position (ArenaLoan *self)
{
  return self->position;
}

char *
arena_loan_describe (ArenaLoan *self)
{
  guint64 fields = atomic_load_explicit (&self->fields, memory_order_relaxed);
  int field = fields != 0 ? __builtin_ctzll (fields) : 0;

  return g_strdup_printf ("field %d%s of unit %" G_GUINT64_FORMAT " is still lent out",
                          field, field == LAST_BIT ? " or a later one" : "", self->unit);
}
