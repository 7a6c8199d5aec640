/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-recycler-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-error.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Buffers come in size classes, four to a doubling, so a fifth is wasted at most. A dropped one goes onto a stack that any
 * thread pushes to and only the taker empties, all at once: no lock, and none of the troubles of a lock-free pop. The
 * taker sorts what it finds into lists of its own, one per class.
 *
 * `waiting` counts what lies in the stack and in the lists, and is added to before a buffer is pushed, so that it never
 * exceeds the limit by more than rounding. Every buffer on loan to a consumer holds a reference. */

#define ALIGNMENT   64
#define N_CLASSES   (4 * 48)

typedef struct _Buffer Buffer;

struct _Buffer
{
  _Alignas (ALIGNMENT) ArenaRecycler *owner;
  Buffer *next;
  gsize   capacity;
  guint   size_class;
};

G_STATIC_ASSERT (sizeof (Buffer) == ALIGNMENT);

struct _ArenaRecycler
{
  ArenaOutputs       outputs;
  gatomicrefcount    ref_count;
  gsize              keep_bytes;
  _Atomic gsize      bytes;
  _Atomic gsize      waiting;
  _Atomic (Buffer *) returned;
  Buffer            *lists[N_CLASSES]; /* the taker's */
};

/* The class of @size and what its buffers hold; FALSE for an absurd one. */
static gboolean
find_class (gsize  size,
            guint *size_class,
            gsize *capacity)
{
  guint64 units = MAX (1, size / ALIGNMENT + (size % ALIGNMENT != 0 ? 1 : 0));
  guint shift = 0;

  /* units = quarters << shift, rounded up, with quarters in 4 to 7: or the number itself below that. */
  while (((units + (G_GUINT64_CONSTANT (1) << shift) - 1) >> shift) > 7)
    shift++;

  units = (units + (G_GUINT64_CONSTANT (1) << shift) - 1) >> shift;
  *size_class = shift * 4 + (guint) units;
  if (*size_class >= N_CLASSES)
    return FALSE;

  *capacity = (gsize) (units << shift) * ALIGNMENT;
  return TRUE;
}

ArenaRecycler *
arena_recycler_new (gsize keep_bytes)
{
  ArenaRecycler *self = g_new0 (ArenaRecycler, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->keep_bytes = keep_bytes;
  return self;
}

static void
free_buffer (ArenaRecycler *self,
             Buffer        *buffer)
{
  atomic_fetch_sub_explicit (&self->bytes, buffer->capacity, memory_order_relaxed);
  free (buffer);
}

static void
free_list (ArenaRecycler *self,
           Buffer        *buffer)
{
  while (buffer != NULL)
    {
      Buffer *next = buffer->next;

      free_buffer (self, buffer);
      buffer = next;
    }
}

void
arena_recycler_unref (ArenaRecycler *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  free_list (self, atomic_load_explicit (&self->returned, memory_order_acquire));
  for (guint i = 0; i < N_CLASSES; i++)
    free_list (self, self->lists[i]);
  g_free (self);
}

static void
sort_returned (ArenaRecycler *self)
{
  Buffer *buffer;

  if (atomic_load_explicit (&self->returned, memory_order_relaxed) == NULL)
    return;

  buffer = atomic_exchange_explicit (&self->returned, NULL, memory_order_acquire);
  while (buffer != NULL)
    {
      Buffer *next = buffer->next;

      buffer->next = self->lists[buffer->size_class];
      self->lists[buffer->size_class] = buffer;
      buffer = next;
    }
}

static Buffer *
pop (ArenaRecycler *self,
     guint          size_class)
{
  Buffer *buffer = self->lists[size_class];

  if (buffer == NULL)
    return NULL;

  self->lists[size_class] = buffer->next;
  atomic_fetch_sub_explicit (&self->waiting, buffer->capacity, memory_order_relaxed);
  return buffer;
}

/* Units have changed their size: what waits in other classes must not keep the new buffers from waiting. */
static void
make_room (ArenaRecycler *self,
           gsize          capacity)
{
  for (guint i = 0; i < N_CLASSES; i++)
    while (self->lists[i] != NULL &&
           atomic_load_explicit (&self->waiting, memory_order_relaxed) + capacity > self->keep_bytes)
      free_buffer (self, pop (self, i));
}

gpointer
arena_recycler_take (ArenaRecycler *self,
                     gsize          size)
{
  guint size_class = 0;
  gsize capacity = 0;
  Buffer *buffer;

  if (!find_class (size, &size_class, &capacity))
    return NULL;

  sort_returned (self);
  buffer = pop (self, size_class);
  if (buffer == NULL)
    {
      make_room (self, capacity);
      buffer = aligned_alloc (ALIGNMENT, sizeof *buffer + capacity);
      if (buffer == NULL)
        return NULL;

      buffer->owner = self;
      buffer->capacity = capacity;
      buffer->size_class = size_class;
      atomic_fetch_add_explicit (&self->bytes, capacity, memory_order_relaxed);
    }

  g_atomic_ref_count_inc (&self->ref_count);
  return buffer + 1;
}

static void
give_back (gpointer data)
{
  Buffer *buffer = (Buffer *) data - 1;
  ArenaRecycler *self = buffer->owner;
  gsize before = atomic_fetch_add_explicit (&self->waiting, buffer->capacity, memory_order_relaxed);

  if (before + buffer->capacity > self->keep_bytes)
    {
      atomic_fetch_sub_explicit (&self->waiting, buffer->capacity, memory_order_relaxed);
      free_buffer (self, buffer);
    }
  else
    {
      buffer->next = atomic_load_explicit (&self->returned, memory_order_relaxed);
      while (!atomic_compare_exchange_weak_explicit (&self->returned, &buffer->next, buffer,
                                                     memory_order_release, memory_order_relaxed))
        ;
    }

  arena_recycler_unref (self);
}

GBytes *
arena_recycler_finish (ArenaRecycler *self,
                       gpointer       buffer,
                       gsize          size)
{
  return g_bytes_new_with_free_func (buffer, size, give_back, buffer);
}

gsize
arena_recycler_get_bytes (ArenaRecycler *self)
{
  return atomic_load_explicit (&self->bytes, memory_order_relaxed);
}

static gpointer
take_output (ArenaOutputs  *outputs,
             gsize          size,
             GError       **error)
{
  gpointer buffer = arena_recycler_take ((ArenaRecycler *) outputs, size);

  if (buffer == NULL)
    g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "No memory for a copy of %" G_GSIZE_FORMAT " bytes", size);
  return buffer;
}

static GBytes *
finish_output (ArenaOutputs *outputs,
               gpointer      buffer,
               gsize         size)
{
  return arena_recycler_finish ((ArenaRecycler *) outputs, buffer, size);
}

static gsize
get_output_bytes (ArenaOutputs *outputs)
{
  return arena_recycler_get_bytes ((ArenaRecycler *) outputs);
}

static void
unref_outputs (ArenaOutputs *outputs)
{
  arena_recycler_unref ((ArenaRecycler *) outputs);
}

ArenaOutputs *
arena_recycler_new_outputs (gsize keep_bytes)
{
  ArenaRecycler *self = arena_recycler_new (keep_bytes);

  self->outputs = (ArenaOutputs) { take_output, finish_output, get_output_bytes, unref_outputs };
  return &self->outputs;
}
