/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-lease-private.h"

#include <stdatomic.h>

/* One atomic word holds both facts that a lease lives by: whether it is open (bit 0) and how many views there are (the
 * rest). Whoever takes the word to 0 ends the lease, and nobody can take it from there again, because views are only
 * added while it is open or by the owner of another view.
 *
 * The views together hold one reference on the reader: taken with the first, dropped with the last and *after* the
 * end, which needs mapping and channel (H12). If the count of views comes back to 0 while the lease is open, the
 * reference is dropped early and taken again by the next view: then the caller's own reference is what keeps the
 * reader. */

#define OPEN     1u
#define ONE_VIEW 2u

struct _ArenaLease
{
  _Atomic guint   word;
  ArenaReader    *reader; /* a reference only while there are views */
  guint64         span;
  ArenaLeaseEnd   end;
  ArenaLeaseHome *home;   /* NULL: ends on any thread */
  const char     *thread; /* with a home: whose it is */
  ArenaLease     *next;   /* in the home's stack */
};

/* Its address names the thread, at no cost; a number could only be had by a call. */
static _Thread_local char thread_mark;

ArenaLease *
arena_lease_new (ArenaReader    *reader,
                 guint64         span,
                 ArenaLeaseEnd   end,
                 ArenaLeaseHome *home)
{
  ArenaLease *self = g_new (ArenaLease, 1);

  atomic_init (&self->word, OPEN);
  self->reader = reader;
  self->span = span;
  self->end = end;
  self->home = home;
  self->thread = home != NULL ? &thread_mark : NULL;
  self->next = NULL;
  return self;
}

static gboolean
end_lease (ArenaLease  *self,
           GError     **error)
{
  gboolean success = self->end (self->reader, self->span, error);

  g_free (self);
  return success;
}

/* For ends that nobody waits for. A custom reader's failure is for its author to read; this library's own have none
 * that matters here. */
static void
end_unwatched (ArenaLease *self)
{
  g_autoptr (GError) error = NULL;
  const char *name = self->home != NULL ? G_OBJECT_TYPE_NAME (self->reader) : NULL;
  guint64 span = self->span;

  if (!end_lease (self, &error) && name != NULL)
    g_warning ("%s could not end unit %" G_GUINT64_FORMAT ": %s", name, span, error->message);
}

static void
push_home (ArenaLease *self)
{
  ArenaLeaseHome *home = self->home;

  self->next = atomic_load_explicit (&home->top, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit (&home->top, &self->next, self,
                                                 memory_order_release, memory_order_relaxed))
    ;
}

gboolean
arena_lease_close (ArenaLease  *self,
                   GError     **error)
{
  /* Views may die meanwhile: after this line the lease is theirs. */
  if (atomic_fetch_sub_explicit (&self->word, OPEN, memory_order_acq_rel) != OPEN)
    return TRUE;

  return end_lease (self, error);
}

void
arena_lease_forget (ArenaLease *self)
{
  /* No view can be left: each holds the reader. */
  g_free (self);
}

ArenaLease *
arena_lease_ref (ArenaLease *self)
{
  if (atomic_fetch_add_explicit (&self->word, ONE_VIEW, memory_order_relaxed) == OPEN)
    g_object_ref (self->reader);

  return self;
}

void
arena_lease_unref (ArenaLease *self)
{
  ArenaReader *reader = self->reader; /* the lease may be gone after the next line */
  guint before = atomic_fetch_sub_explicit (&self->word, ONE_VIEW, memory_order_acq_rel);

  if (before / ONE_VIEW > 1)
    return;

  if (before == ONE_VIEW)
    {
      if (self->home != NULL && self->thread != &thread_mark)
        push_home (self);
      else
        end_unwatched (self);
    }

  g_object_unref (reader);
}

GBytes *
arena_lease_view (ArenaLease    *self,
                  gconstpointer  data,
                  gsize          size)
{
  return g_bytes_new_with_free_func (data, size, (GDestroyNotify) arena_lease_unref, arena_lease_ref (self));
}

typedef struct
{
  ArenaLease *lease;
  GBytes     *bytes;
} Wrapped;

static void
free_wrapped (gpointer data)
{
  Wrapped *wrapped = data;

  /* The bytes are part of the unit, so they go before its end. */
  g_bytes_unref (wrapped->bytes);
  arena_lease_unref (wrapped->lease);
  g_free (wrapped);
}

GBytes *
arena_lease_wrap (ArenaLease *self,
                  GBytes     *bytes)
{
  Wrapped *wrapped = g_new (Wrapped, 1);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  wrapped->lease = arena_lease_ref (self);
  wrapped->bytes = bytes;
  return g_bytes_new_with_free_func (data, size, free_wrapped, wrapped);
}

static ArenaLease *
take_home (ArenaLeaseHome *self)
{
  ArenaLease *lease = atomic_exchange_explicit (&self->top, NULL, memory_order_acquire);
  ArenaLease *first = NULL;

  while (lease != NULL)
    {
      ArenaLease *next = lease->next;

      lease->next = first;
      first = lease;
      lease = next;
    }

  return first;
}

void
arena_lease_home_run (ArenaLeaseHome *self)
{
  ArenaLease *lease;

  if (G_LIKELY (atomic_load_explicit (&self->top, memory_order_relaxed) == NULL))
    return;

  lease = take_home (self);
  while (lease != NULL)
    {
      ArenaLease *next = lease->next;

      end_unwatched (lease);
      lease = next;
    }
}

void
arena_lease_home_drop (ArenaLeaseHome *self)
{
  ArenaLease *lease = take_home (self);

  while (lease != NULL)
    {
      ArenaLease *next = lease->next;

      g_free (lease);
      lease = next;
    }
}
