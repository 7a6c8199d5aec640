/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-pool-private.h"

#include "backend/arena-writer-state-private.h"
#include "base/arena-error-private.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-killpoint-private.h"

/* A segment is free iff freed[i] is the last sequence used in it and no loan of it lives; any other value but the one
 * used before that is a broken peer. The consumer's page started as if a lap had gone before, so none is special. In
 * order, sequence s goes to segment s mod N; else to whichever is free, and then the producer's page says to which. A
 * sequence is used up by commit_unit(), behind which the boundary publishes without a step that could fail: an aborted
 * unit gives it and the segment back, else freed[i] would never become s and the pool stop one lap later (H6).
 *
 * A wait's condition is freed[], its cursor `released`. The cursor is read first and freed[] after it: if the count has
 * reached what was armed without our segment being free, sleeping would miss the release that comes next (H1), so the
 * wait arms anew. `need` tells the consumer which segment is missing, or how many of those that it gave back are on
 * loan here: with those it holds that makes all of them if it starves this process. It is taken back by every return but
 * WOULD_BLOCK, and after that by the next call (H10): else a consumer would claim to starve its producer while units
 * arrive. */

/* The last sequences used in a segment. */
typedef struct
{
  guint64 last;
  guint64 before;
} Used;

#define LOOK_AHEAD 8 /* a line of freed[] */

struct _ArenaPoolWriter
{
  GObject          parent_instance;
  ArenaWriterState state;
  guint64          n_segments;
  gboolean         any;         /* ARENA_REUSE_ANY */
  guint64          segment_size;
  guint64          stride;

  guint64          sequence;    /* s of the next unit that takes a segment */
  guint64          index;       /* of its segment; any: of the last one until it has one */
  guint64          free_until;  /* sequences below have been seen to be free */
  gboolean         has_segment; /* the open unit has it */
  Used            *used;        /* per segment */
  ArenaLoan      **loans;       /* per segment: the newest loan over it, or NULL */

  guint64          need;        /* as last announced */
  guint64          want;        /* armed at; G_MAXUINT64 while not armed */
  guint64          released;    /* as last read */
  gboolean         need_set;    /* a WOULD_BLOCK has left it */
  guint64          told_need;   /* what the consumer was last woken for */
  guint64          told_released;
};

static void arena_pool_writer_iface_init (ArenaWriterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaPoolWriter, arena_pool_writer, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_WRITER, arena_pool_writer_iface_init))

static void
disarm (gpointer data)
{
  ArenaPoolWriter *self = data;

  self->want = G_MAXUINT64;
  self->need_set = FALSE;
  self->told_need = 0; /* the consumer may have looked meanwhile: a later wait tells it again */
  atomic_store_explicit (&self->state.channel->cp->need, 0, memory_order_seq_cst);
}

static gboolean
is_lent (ArenaPoolWriter *self,
         guint64          i)
{
  if (G_LIKELY (self->loans[i] == NULL))
    return FALSE;
  if (arena_loan_is_lent (self->loans[i]))
    return TRUE;

  g_clear_pointer (&self->loans[i], arena_loan_unref);
  return FALSE;
}

static guint64
get_freed (ArenaPoolWriter *self,
           guint64          i)
{
  return atomic_load_explicit (&self->state.channel->cc->freed[i], memory_order_acquire);
}

/* What to announce. Where every segment is back but on loan the consumer has nothing to do with it: BUSY follows. */
static guint64
count_need (ArenaPoolWriter *self)
{
  guint64 n_lent = 0;

  if (!self->any)
    return self->sequence + 1;

  for (guint64 i = 0; i < self->n_segments; i++)
    n_lent += is_lent (self, i) && get_freed (self, i) == self->used[i].last ? 1 : 0;

  return n_lent == self->n_segments ? 0 : n_lent + 1;
}

static void
arm (gpointer data)
{
  ArenaPoolWriter *self = data;
  ArenaChannel *channel = self->state.channel;

  self->want = atomic_load_explicit (&channel->cc->released, memory_order_seq_cst) + 1;
  arena_cursor_arm (&channel->cp->want_released, self->want);
  /* A store of its own after that one: together they would hide a missing order (H14). */
  self->need = count_need (self);
  atomic_store_explicit (&channel->cp->need, self->need, memory_order_seq_cst);
  self->need_set = TRUE;
}

static ArenaWaitStatus
fail_protocol (ArenaPoolWriter *self,
               const char      *word,
               guint64          value,
               GError         **error)
{
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
               "The consumer's %s can't be %" G_GUINT64_FORMAT " before sequence %" G_GUINT64_FORMAT,
               word, value, self->sequence);
  return ARENA_WAIT_FAILED;
}

/* What is free stays free until it is written to. The consumer writes to this line all the time, so fetching it is dear;
 * whoever has to, takes from it what there is. */
static void
look_ahead (ArenaPoolWriter *self)
{
  const ArenaConsumerPage *cc = self->state.channel->cc;
  guint64 limit = self->sequence + MIN (self->n_segments, LOOK_AHEAD);
  guint64 s = self->sequence + 1;

  while (s < limit &&
         atomic_load_explicit (&cc->freed[s % self->n_segments], memory_order_acquire) == s - self->n_segments)
    s++;
  self->free_until = s;
}

static ArenaWaitStatus
check_index (ArenaPoolWriter *self,
             guint64          i,
             GError         **error)
{
  guint64 freed = get_freed (self, i);

  if (G_LIKELY (freed == self->used[i].last))
    return ARENA_WAIT_DONE;

  return freed == self->used[i].before ? ARENA_WAIT_PENDING : fail_protocol (self, "freed sequence", freed, error);
}

static ArenaWaitStatus
fail_lent (ArenaPoolWriter *self,
           guint64          i,
           const char      *which,
           GError         **error)
{
  g_autofree char *text = arena_loan_describe (self->loans[i]);

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Segment %" G_GUINT64_FORMAT " %s, but %s", i, which, text);
  return ARENA_WAIT_FAILED;
}

/* BUSY where only this process can end the wait: every segment is back, and on loan. */
static ArenaWaitStatus
find_any (ArenaPoolWriter *self,
          GError         **error)
{
  guint64 n_lent = 0;
  guint64 i = self->index;

  for (guint64 k = 0; k < self->n_segments; k++)
    {
      ArenaWaitStatus status;

      i = i + 1 < self->n_segments ? i + 1 : 0;
      status = check_index (self, i, error);
      if (status == ARENA_WAIT_FAILED)
        return status;
      if (status == ARENA_WAIT_PENDING)
        continue;
      if (is_lent (self, i))
        {
          n_lent++;
          continue;
        }

      self->index = i;
      return ARENA_WAIT_DONE;
    }

  return n_lent == self->n_segments ? fail_lent (self, i, "was given back as all the others", error) : ARENA_WAIT_PENDING;
}

static ArenaWaitStatus
check_segment (ArenaPoolWriter *self,
               GError         **error)
{
  ArenaWaitStatus status;

  if (self->any)
    return find_any (self, error);

  if (is_lent (self, self->index))
    return fail_lent (self, self->index, "is next", error);

  if (self->sequence < self->free_until)
    return ARENA_WAIT_DONE;

  status = check_index (self, self->index, error);
  if (status == ARENA_WAIT_DONE)
    look_ahead (self);
  return status;
}

static ArenaWaitStatus
check (gpointer   data,
       GError   **error)
{
  ArenaPoolWriter *self = data;
  ArenaChannel *channel = self->state.channel;
  guint64 limit = channel->geometry.first_cursor + (self->sequence - channel->geometry.first_sequence);
  ArenaWaitStatus status;
  guint64 released;

  if (!arena_cursor_read (&channel->cc->released, self->released, limit, &released))
    return fail_protocol (self, "count of releases", released, error);

  self->released = released;
  status = check_segment (self, error);
  if (status != ARENA_WAIT_PENDING)
    return status;
  if (!arena_writer_state_check_wait (&self->state, error))
    return ARENA_WAIT_FAILED;

  return released >= self->want ? ARENA_WAIT_AGAIN : ARENA_WAIT_PENDING;
}

/* A consumer that already sleeps on its empty queue, with all leases in its hands, learns only from this that it starves
 * its producer (H8). Once per value, or the two would wake each other for ever. */
static ArenaWaitStatus
settle (gpointer   data,
        gint64    *sleep_us,
        GError   **error)
{
  ArenaPoolWriter *self = data;
  ArenaChannel *channel = self->state.channel;

  if (self->told_need == self->need && self->told_released == self->released)
    return ARENA_WAIT_PENDING;

  if (atomic_load_explicit (&channel->cc->want_qhead, memory_order_seq_cst) >
      atomic_load_explicit (&channel->cp->qhead, memory_order_relaxed))
    {
      self->told_need = self->need;
      self->told_released = self->released;
      arena_event_signal (channel->wake_consumer);
    }

  return ARENA_WAIT_PENDING;
}

static const ArenaWaitOps wait_ops = {
  .what = "a free segment",
  .check = check,
  .arm = arm,
  .settle = settle,
  .disarm = disarm,
};

/* Gives the open unit its segment, waiting for it as long as begin_unit() was told. */
static gboolean
acquire (ArenaPoolWriter  *self,
         GError          **error)
{
  ArenaWaitStatus status;

  if (self->has_segment)
    return TRUE;

  if (self->need_set)
    disarm (self);
  status = check_segment (self, error);
  if (status == ARENA_WAIT_FAILED ||
      (status == ARENA_WAIT_PENDING && !arena_writer_state_wait (&self->state, &wait_ops, self, error)))
    return FALSE;

  self->has_segment = TRUE;
  return TRUE;
}

static gboolean
arena_pool_writer_start_epoch (ArenaWriter  *writer,
                               guint64       epoch,
                               GError      **error)
{
  return arena_writer_state_start_epoch (&ARENA_POOL_WRITER (writer)->state, epoch, error);
}

static gboolean
arena_pool_writer_begin_unit (ArenaWriter   *writer,
                              gsize          expected_size,
                              gint64         timeout,
                              GCancellable  *cancellable,
                              GError       **error)
{
  ArenaPoolWriter *self = ARENA_POOL_WRITER (writer);

  if (!arena_writer_state_prepare (&self->state, timeout, cancellable, error))
    return FALSE;

  if (self->need_set)
    disarm (self);
  if (expected_size > self->segment_size)
    {
      arena_writer_state_refuse_size (&self->state, error, "A unit of %" G_GSIZE_FORMAT
                                      " bytes does not fit into segment_size %" G_GUINT64_FORMAT,
                                      expected_size, self->segment_size);
      return FALSE;
    }

  if (expected_size > 0 && !acquire (self, error))
    return FALSE;

  arena_writer_state_open (&self->state);
  return TRUE;
}

/* Finds room for a field; an empty one takes none and is at the unit's start. */
static guint8 *
place (ArenaPoolWriter  *self,
       const char       *call,
       gsize             size,
       gsize             alignment,
       guint64          *offset,
       GError          **error)
{
  ArenaLayout layout = self->state.layout;

  if (!arena_writer_state_check_open (&self->state, call, error))
    return NULL;

  *offset = 0;
  if (size > 0 &&
      (!arena_writer_state_place (&self->state, size, alignment, self->segment_size, "segment_size", &layout, offset, error) ||
       !acquire (self, error)))
    return NULL;

  self->state.layout = layout;
  self->state.n_fields++;
  *offset += self->index * self->stride;
  return self->state.base + *offset;
}

gboolean
arena_pool_writer_write_data (ArenaWriter    *writer,
                             gconstpointer   data,
                             gsize           size,
                             guint64        *offset,
                             GError        **error)
{
  ArenaPoolWriter *self = (ArenaPoolWriter *) writer;
  guint8 *target = place (self, "write", size, 0, offset, error);

  if (target == NULL)
    return FALSE;

  arena_copy_policy_copy (&self->state.copying, target, data, size);
  arena_kill_point (ARENA_KILL_AFTER_FIELD);
  return TRUE;
}

static gboolean
arena_pool_writer_write (ArenaWriter  *writer,
                        GBytes       *bytes,
                        guint64      *offset,
                        GError      **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return arena_pool_writer_write_data (writer, data, size, offset, error);
}

static GBytes *
arena_pool_writer_reserve (ArenaWriter  *writer,
                           gsize         size,
                           gsize         alignment,
                           guint64      *offset,
                           GError      **error)
{
  ArenaPoolWriter *self = ARENA_POOL_WRITER (writer);
  ArenaWriterState *state = &self->state;
  guint8 *target = place (self, "reserve", size, alignment, offset, error);
  guint64 i = self->index;

  if (target == NULL)
    return NULL;

  arena_kill_point (ARENA_KILL_AFTER_FIELD);
  if (size == 0)
    return g_bytes_new (NULL, 0);

  if (state->loan == NULL)
    {
      state->loan = arena_loan_new (state->storage, state->data, i, state->n_units);
      self->loans[i] = arena_loan_ref (state->loan);
    }

  return arena_loan_lend (state->loan, target, size, state->n_fields - 1);
}

/* The open unit's sequence and segment are used. */
static void
use_segment (ArenaPoolWriter *self)
{
  ArenaChannel *channel = self->state.channel;
  Used *used = &self->used[self->index];

  if (self->any)
    atomic_store_explicit (arena_channel_segment (channel, self->sequence), self->index, memory_order_release);

  used->before = used->last;
  used->last = self->sequence++;
  self->has_segment = FALSE;
  if (!self->any)
    self->index = self->sequence % self->n_segments;
  atomic_store_explicit (&channel->cp->committed, self->sequence - channel->geometry.first_sequence, memory_order_relaxed);
}

static gboolean
arena_pool_writer_commit_unit (ArenaWriter  *writer,
                               guint64      *span,
                               GError      **error)
{
  ArenaPoolWriter *self = ARENA_POOL_WRITER (writer);

  if (!arena_writer_state_check_open (&self->state, "commit_unit", error))
    return FALSE;

  if (self->need_set)
    disarm (self);

  /* A segment that was waited for but not written to goes to the next unit. */
  *span = 0;
  if (self->state.layout.end > 0)
    {
      *span = self->sequence;
      use_segment (self);
    }

  self->state.n_units++;
  arena_writer_state_close (&self->state);
  return TRUE;
}

static gboolean
arena_pool_writer_abort_unit (ArenaWriter  *writer,
                              GError      **error)
{
  ArenaPoolWriter *self = ARENA_POOL_WRITER (writer);

  if (!arena_channel_check_fork (self->state.channel, error))
    return FALSE;

  if (self->need_set)
    disarm (self);

  /* Sequence and segment go back: the next acquire() looks at the loan again. */
  self->has_segment = FALSE;
  arena_writer_state_close (&self->state);
  return TRUE;
}

static void
arena_pool_writer_finalize (GObject *object)
{
  ArenaPoolWriter *self = ARENA_POOL_WRITER (object);

  for (guint64 i = 0; self->loans != NULL && i < self->n_segments; i++)
    g_clear_pointer (&self->loans[i], arena_loan_unref);
  g_free (self->loans);
  g_free (self->used);
  arena_writer_state_clear (&self->state);

  G_OBJECT_CLASS (arena_pool_writer_parent_class)->finalize (object);
}

static void
arena_pool_writer_class_init (ArenaPoolWriterClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = arena_pool_writer_finalize;
}

static void
arena_pool_writer_iface_init (ArenaWriterInterface *iface)
{
  iface->start_epoch = arena_pool_writer_start_epoch;
  iface->begin_unit = arena_pool_writer_begin_unit;
  iface->write = arena_pool_writer_write;
  iface->reserve = arena_pool_writer_reserve;
  iface->commit_unit = arena_pool_writer_commit_unit;
  iface->abort_unit = arena_pool_writer_abort_unit;
}

static void
arena_pool_writer_init (ArenaPoolWriter *self)
{
  self->want = G_MAXUINT64;
}

ArenaWriter *
arena_pool_writer_new (ArenaStorage *storage)
{
  const ArenaGeometry *geometry = &storage->channel->geometry;
  ArenaPoolWriter *self = g_object_new (ARENA_TYPE_POOL_WRITER, NULL);

  arena_writer_state_init (&self->state, storage, wait_ops.what);
  self->n_segments = geometry->n_segments;
  self->any = geometry->reuse == ARENA_REUSE_ANY;
  self->segment_size = geometry->segment_size;
  self->stride = geometry->stride;
  self->sequence = geometry->first_sequence;
  self->released = geometry->first_cursor;
  self->index = self->sequence % self->n_segments;
  self->loans = g_new0 (ArenaLoan *, self->n_segments);
  self->used = g_new (Used, self->n_segments);
  for (guint64 s = self->sequence - self->n_segments; s < self->sequence; s++)
    self->used[s % self->n_segments] = (Used) { .last = s, .before = s - self->n_segments };
  return ARENA_WRITER (self);
}
