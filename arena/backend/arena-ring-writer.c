/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-ring-private.h"

#include "backend/arena-writer-state-private.h"
#include "base/arena-error-private.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-killpoint-private.h"

/* Positions are bytes charged since the ring was made, counted from first_cursor and never reset; a unit is charged its
 * layout rounded up to 64, against the capacity rounded up to 64, so exactly `capacity` bytes in one field fit at every
 * position. The mapping shows the data twice, so a unit that straddles the end is still one piece of memory.
 *
 * Bytes up to position E may be written once the consumer has given back everything before E - capacity, and once no
 * buffer is lent over anything there: neither by a committed unit that starts before E - capacity, nor by an aborted
 * one, whose bytes are exactly those that come next. The first is waited for, the second is BUSY, since only this
 * process can end it.
 *
 * A wait's cursor is `released`, and its condition is the same word: so what is wanted is exactly the position, and a
 * sleeper can't miss a step as it can in a pool. A ring has no `need`: its outputs are copies, so a consumer can't
 * starve its producer. */

struct _ArenaRingWriter
{
  GObject          parent_instance;
  ArenaWriterState state;
  guint64          capacity;
  guint64          charged_capacity; /* rounded up */
  guint64          data_size;
  guint64          origin;           /* position 0 of the memory */

  guint64          head;     /* where the open or the next unit starts */
  guint64          granted;  /* bytes from there that may be written */
  guint64          target;   /* what a wait needs to be given back */
  guint64          released; /* as last read */
  GQueue           loans;    /* ArenaLoan of committed units, oldest first */
  GQueue           aborted;  /* of aborted ones */
};

static void arena_ring_writer_iface_init (ArenaWriterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaRingWriter, arena_ring_writer, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_WRITER, arena_ring_writer_iface_init))

static guint64
round_to_charge (guint64 size)
{
  return (size + ARENA_FIELD_ALIGNMENT - 1) & ~(guint64) (ARENA_FIELD_ALIGNMENT - 1);
}

/* The oldest loan of the queue that is still lent; those before it are forgotten. */
static ArenaLoan *
peek_loan (GQueue *loans)
{
  ArenaLoan *loan;

  while ((loan = g_queue_peek_head (loans)) != NULL && !arena_loan_is_lent (loan))
    arena_loan_unref (g_queue_pop_head (loans));

  return loan;
}

static gboolean
check_loans (ArenaRingWriter  *self,
             GError          **error)
{
  ArenaLoan *loan = peek_loan (&self->aborted);
  g_autofree char *text = NULL;

  if (G_LIKELY (loan == NULL))
    {
      loan = peek_loan (&self->loans);
      if (loan == NULL || arena_loan_get_position (loan) >= self->target)
        return TRUE;
    }

  text = arena_loan_describe (loan);
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "The ring's next bytes are free, but %s", text);
  return FALSE;
}

static ArenaWaitStatus
check_released (ArenaRingWriter  *self,
                GError          **error)
{
  guint64 released;

  if (!arena_cursor_read (&self->state.channel->cc->released, self->released, self->head, &released))
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL,
                   "The consumer's position can't be %" G_GUINT64_FORMAT ": it was %" G_GUINT64_FORMAT
                   ", the producer's is %" G_GUINT64_FORMAT, released, self->released, self->head);
      return ARENA_WAIT_FAILED;
    }

  self->released = released;
  if (released < self->target)
    return ARENA_WAIT_PENDING;

  return check_loans (self, error) ? ARENA_WAIT_DONE : ARENA_WAIT_FAILED;
}

static ArenaWaitStatus
check (gpointer   data,
       GError   **error)
{
  ArenaRingWriter *self = data;
  ArenaWaitStatus status = check_released (self, error);

  if (status == ARENA_WAIT_PENDING && !arena_writer_state_check_wait (&self->state, error))
    return ARENA_WAIT_FAILED;

  return status;
}

static void
arm (gpointer data)
{
  ArenaRingWriter *self = data;

  arena_cursor_arm (&self->state.channel->cp->want_released, self->target);
}

static const ArenaWaitOps wait_ops = {
  .what = "room in the ring",
  .check = check,
  .arm = arm,
};

/* Sees to it that @size bytes from the unit's start may be written, waiting as long as begin_unit() was told. */
static gboolean
grant (ArenaRingWriter  *self,
       guint64           size,
       GError          **error)
{
  guint64 end = self->head + round_to_charge (size);
  ArenaWaitStatus status;

  if (size <= self->granted)
    return TRUE;

  /* Positions start at the origin: on the first lap nothing has to be given back. */
  self->target = end - self->origin > self->charged_capacity ? end - self->charged_capacity : self->origin;
  /* The position last read will often do, and spares fetching a line that the consumer writes to. */
  if (self->released >= self->target)
    status = check_loans (self, error) ? ARENA_WAIT_DONE : ARENA_WAIT_FAILED;
  else
    status = check_released (self, error);
  if (status == ARENA_WAIT_FAILED ||
      (status == ARENA_WAIT_PENDING && !arena_writer_state_wait (&self->state, &wait_ops, self, error)))
    return FALSE;

  self->granted = end - self->head;
  return TRUE;
}

static guint64
start_offset (ArenaRingWriter *self)
{
  return (self->head - self->origin) % self->data_size;
}

static gboolean
arena_ring_writer_start_epoch (ArenaWriter  *writer,
                               guint64       epoch,
                               GError      **error)
{
  return arena_writer_state_start_epoch (&ARENA_RING_WRITER (writer)->state, epoch, error);
}

static gboolean
arena_ring_writer_begin_unit (ArenaWriter   *writer,
                              gsize          expected_size,
                              gint64         timeout,
                              GCancellable  *cancellable,
                              GError       **error)
{
  ArenaRingWriter *self = ARENA_RING_WRITER (writer);

  if (!arena_writer_state_prepare (&self->state, timeout, cancellable, error))
    return FALSE;

  if (expected_size > self->capacity)
    {
      arena_writer_state_refuse_size (&self->state, error, "A unit of %" G_GSIZE_FORMAT
                                      " bytes does not fit into capacity %" G_GUINT64_FORMAT,
                                      expected_size, self->capacity);
      return FALSE;
    }

  if (expected_size > 0 && !grant (self, expected_size, error))
    return FALSE;

  arena_writer_state_open (&self->state);
  return TRUE;
}

/* A field aligned to more than 64 bytes is so in memory, not only within its unit, which starts anywhere. */
static guint64
pad (ArenaRingWriter *self,
     gsize            alignment)
{
  guint64 at = start_offset (self) + self->state.layout.end;

  return alignment > ARENA_FIELD_ALIGNMENT ? (alignment - at % alignment) % alignment : 0;
}

/* Finds room for a field; an empty one takes none and is at the unit's start. */
static guint8 *
place (ArenaRingWriter  *self,
       const char       *call,
       gsize             size,
       gsize             alignment,
       guint64          *offset,
       GError          **error)
{
  ArenaWriterState *state = &self->state;
  ArenaLayout layout = state->layout;
  guint64 end = layout.end;
  gboolean placed;

  if (!arena_writer_state_check_open (state, call, error))
    return NULL;

  *offset = 0;
  if (size > 0)
    {
      state->layout.end += pad (self, alignment);
      placed = arena_writer_state_place (state, size, 0, self->capacity, "capacity", &layout, offset, error);
      state->layout.end = end;
      if (!placed || !grant (self, layout.end, error))
        return NULL;
    }

  state->layout = layout;
  state->n_fields++;
  *offset += start_offset (self);
  return state->base + *offset;
}

gboolean
arena_ring_writer_write_data (ArenaWriter    *writer,
                             gconstpointer   data,
                             gsize           size,
                             guint64        *offset,
                             GError        **error)
{
  ArenaRingWriter *self = (ArenaRingWriter *) writer;
  guint8 *target = place (self, "write", size, 0, offset, error);

  if (target == NULL)
    return FALSE;

  arena_copy_policy_copy (&self->state.copying, target, data, size);
  arena_kill_point (ARENA_KILL_AFTER_FIELD);
  return TRUE;
}

static gboolean
arena_ring_writer_write (ArenaWriter  *writer,
                        GBytes       *bytes,
                        guint64      *offset,
                        GError      **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  return arena_ring_writer_write_data (writer, data, size, offset, error);
}

static GBytes *
arena_ring_writer_reserve (ArenaWriter  *writer,
                           gsize         size,
                           gsize         alignment,
                           guint64      *offset,
                           GError      **error)
{
  ArenaRingWriter *self = ARENA_RING_WRITER (writer);
  ArenaWriterState *state = &self->state;
  guint8 *target = place (self, "reserve", size, alignment, offset, error);

  if (target == NULL)
    return NULL;

  arena_kill_point (ARENA_KILL_AFTER_FIELD);
  if (size == 0)
    return g_bytes_new (NULL, 0);

  if (state->loan == NULL)
    state->loan = arena_loan_new (state->storage, state->data, self->head, state->n_units);

  return arena_loan_lend (state->loan, target, size, state->n_fields - 1);
}

/* The open unit is over; @loans is where its loan is remembered as long as it is lent. */
static void
close_unit (ArenaRingWriter *self,
            GQueue          *loans)
{
  ArenaLoan *loan = self->state.loan;

  if (loan != NULL && arena_loan_is_lent (loan))
    g_queue_push_tail (loans, g_steal_pointer (&self->state.loan));

  self->granted = 0;
  arena_writer_state_close (&self->state);
}

static gboolean
arena_ring_writer_commit_unit (ArenaWriter  *writer,
                               guint64      *span,
                               GError      **error)
{
  ArenaRingWriter *self = ARENA_RING_WRITER (writer);
  ArenaProducerPage *cp = self->state.channel->cp;

  if (!arena_writer_state_check_open (&self->state, "commit_unit", error))
    return FALSE;

  *span = 0;
  if (self->state.layout.end > 0)
    {
      self->head += round_to_charge (self->state.layout.end);
      *span = self->head;
      atomic_store_explicit (&cp->committed, self->head - self->origin, memory_order_relaxed);
    }

  self->state.n_units++;
  close_unit (self, &self->loans);
  return TRUE;
}

static gboolean
arena_ring_writer_abort_unit (ArenaWriter  *writer,
                              GError      **error)
{
  ArenaRingWriter *self = ARENA_RING_WRITER (writer);

  if (!arena_channel_check_fork (self->state.channel, error))
    return FALSE;

  close_unit (self, &self->aborted);
  return TRUE;
}

static void
arena_ring_writer_finalize (GObject *object)
{
  ArenaRingWriter *self = ARENA_RING_WRITER (object);

  g_queue_clear_full (&self->loans, (GDestroyNotify) arena_loan_unref);
  g_queue_clear_full (&self->aborted, (GDestroyNotify) arena_loan_unref);
  arena_writer_state_clear (&self->state);

  G_OBJECT_CLASS (arena_ring_writer_parent_class)->finalize (object);
}

static void
arena_ring_writer_class_init (ArenaRingWriterClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = arena_ring_writer_finalize;
}

static void
arena_ring_writer_iface_init (ArenaWriterInterface *iface)
{
  iface->start_epoch = arena_ring_writer_start_epoch;
  iface->begin_unit = arena_ring_writer_begin_unit;
  iface->write = arena_ring_writer_write;
  iface->reserve = arena_ring_writer_reserve;
  iface->commit_unit = arena_ring_writer_commit_unit;
  iface->abort_unit = arena_ring_writer_abort_unit;
}

static void
arena_ring_writer_init (ArenaRingWriter *self)
{
  g_queue_init (&self->loans);
  g_queue_init (&self->aborted);
}

ArenaWriter *
arena_ring_writer_new (ArenaStorage *storage)
{
  const ArenaGeometry *geometry = &storage->channel->geometry;
  ArenaRingWriter *self = g_object_new (ARENA_TYPE_RING_WRITER, NULL);

  arena_writer_state_init (&self->state, storage, wait_ops.what);
  self->capacity = geometry->capacity;
  self->charged_capacity = round_to_charge (geometry->capacity);
  self->data_size = geometry->data_size;
  self->origin = geometry->first_cursor;
  self->head = self->origin;
  self->released = self->origin;
  return ARENA_WRITER (self);
}
