/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-mapping-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "memory/arena-fork-private.h"
#include "memory/arena-limits-private.h"
#include "memory/arena-mapping-registry-private.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* Everything but the reference count is constant, so a mapping needs no lock; what retires it is set once, and whoever
 * drops the last reference comes after that. The count is our own atomic: ThreadSanitizer doesn't see into GLib, whose
 * reference counts order nothing for it.
 *
 * A control mapping doesn't exist in a forked child, and something else of the child's may lie at its address: only
 * the process that made it unmaps it. */

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

struct _ArenaMapping
{
  _Atomic guint     ref_count;
  guint8           *data;
  gsize             size;   /* of one view */
  gsize             length; /* of all views */
  ArenaMappingFlags flags;
  guint             generation; /* of the process that made it */
  void            (*retire) (ArenaMapping *mapping); /* NULL: the last reference unmaps */
  _Atomic gpointer  retire_data;
};

static gsize
get_page_size (void)
{
  return (gsize) sysconf (_SC_PAGESIZE);
}

static gboolean
check_arguments (gsize              size,
                 ArenaMappingFlags  flags,
                 gsize             *length,
                 GError           **error)
{
  gsize n_views = flags & ARENA_MAPPING_TWICE ? 2 : 1;

  if (size > 0 && arena_checked_mul (size, n_views, length) && *length <= G_MAXSSIZE &&
      (n_views == 1 || size % get_page_size () == 0))
    return TRUE;

  g_set_error (error,
               ARENA_ERROR,
               ARENA_ERROR_INVALID_ARGUMENT,
               "%" G_GSIZE_FORMAT " bytes can't be mapped%s",
               size,
               n_views == 2 ? " twice: not a number of whole pages" : "");
  return FALSE;
}

/* ENOMEM of mmap() has many causes; the only one that a user sets is named. */
static void
set_mmap_error (int      saved_errno,
                gsize    length,
                GError **error)
{
  g_autofree char *object = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes", length);

  if (saved_errno == ENOMEM && !arena_limits_check_address_space (length, NULL, error))
    return;

  arena_set_error_errno (error,
                         /* Locked memory, where the process locks all it maps. */
                         saved_errno == EAGAIN ? ARENA_ERROR_NO_SPACE : ARENA_ERROR_INVALID_ARGUMENT,
                         saved_errno,
                         "mmap",
                         object);
}

/* The views are put over a reservation, so nothing else can take the place of the second in between. */
static guint8 *
map_twice (int   fd,
           gsize size,
           int   protection)
{
  guint8 *data = mmap (NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int saved_errno;

  if (data == MAP_FAILED)
    return MAP_FAILED;

  if (mmap (data, size, protection, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED &&
      mmap (data + size, size, protection, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
    return data;

  saved_errno = errno;
  munmap (data, 2 * size);
  errno = saved_errno;
  return MAP_FAILED;
}

static guint8 *
map_views (int               fd,
           gsize             size,
           ArenaMappingFlags flags)
{
  int protection = flags & ARENA_MAPPING_WRITABLE ? PROT_READ | PROT_WRITE : PROT_READ;

  if (flags & ARENA_MAPPING_TWICE)
    return map_twice (fd, size, protection);

  return mmap (NULL, size, protection, flags & ARENA_MAPPING_PRIVATE ? MAP_PRIVATE : MAP_SHARED, fd, 0);
}

static ArenaMapping *
create_mapping (int                 fd,
                gsize               size,
                gsize               length,
                ArenaMappingFlags   flags,
                GError            **error)
{
  guint8 *data = map_views (fd, size, flags);
  ArenaMapping *self;
  int saved_errno;

  if (data == MAP_FAILED)
    {
      saved_errno = errno;
      set_mmap_error (saved_errno, length, error);
      return NULL;
    }

  if (flags & ARENA_MAPPING_CONTROL && madvise (data, length, MADV_DONTFORK) != 0)
    {
      saved_errno = errno;
      munmap (data, length);
      arena_set_error_errno (error, ARENA_ERROR_NOT_SUPPORTED, saved_errno, "madvise", "MADV_DONTFORK");
      return NULL;
    }

  self = g_new0 (ArenaMapping, 1);
  atomic_init (&self->ref_count, 1);
  self->data = data;
  self->size = size;
  self->length = length;
  self->flags = flags;
  self->generation = arena_fork_generation ();
  return self;
}

/* For ThreadSanitizer, always writable where the file's seals still allow it; see the registry's header. */
static ArenaMapping *
find_or_create_mapping (int                 fd,
                        gsize               size,
                        gsize               length,
                        ArenaMappingFlags   flags,
                        GError            **error)
{
  ArenaMapping *self;

  /* Shared with nobody. */
  if (flags & ARENA_MAPPING_PRIVATE)
    return create_mapping (fd, size, length, flags, error);

  self = arena_mapping_registry_lookup (fd, size, flags);
  if (self != NULL)
    return self;

  if (ARENA_THREAD_SANITIZER)
    self = create_mapping (fd, size, length, flags | ARENA_MAPPING_WRITABLE, NULL);
  if (self == NULL)
    self = create_mapping (fd, size, length, flags, error);
  if (self != NULL)
    arena_mapping_registry_insert (fd, self, flags);

  return self;
}

ArenaMapping *
arena_mapping_new (int                 fd,
                   gsize               size,
                   ArenaMappingFlags   flags,
                   GError            **error)
{
  ArenaMapping *self;
  gsize length;

  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!check_arguments (size, flags, &length, error))
    return NULL;

  arena_mapping_registry_lock ();
  self = find_or_create_mapping (fd, size, length, flags, error);
  arena_mapping_registry_unlock ();

  return self;
}

ArenaMapping *
arena_mapping_ref (ArenaMapping *self)
{
  atomic_fetch_add_explicit (&self->ref_count, 1, memory_order_relaxed);
  return self;
}

void
arena_mapping_set_retire (ArenaMapping *self,
                          void        (*retire) (ArenaMapping *mapping),
                          gpointer      data)
{
  self->retire = retire;
  atomic_store_explicit (&self->retire_data, data, memory_order_release);
}

gpointer
arena_mapping_get_retire_data (const ArenaMapping *self)
{
  return atomic_load_explicit (&self->retire_data, memory_order_acquire);
}

void
arena_mapping_free (ArenaMapping *self)
{
  if (!(self->flags & ARENA_MAPPING_CONTROL) || arena_fork_is_current (self->generation))
    munmap (self->data, self->length);
  g_free (self);
}

void
arena_mapping_unref (ArenaMapping *self)
{
  gboolean last;

  arena_mapping_registry_lock ();
  last = atomic_fetch_sub_explicit (&self->ref_count, 1, memory_order_acq_rel) == 1;
  if (last)
    arena_mapping_registry_remove (self);
  arena_mapping_registry_unlock ();

  if (!last)
    return;

  if (self->retire != NULL)
    self->retire (self);
  else
    arena_mapping_free (self);
}

guint8 *
arena_mapping_get_data (const ArenaMapping *self)
{
  return self->data;
}

gsize
arena_mapping_get_size (const ArenaMapping *self)
{
  return self->size;
}

gboolean
arena_mapping_is_writable (const ArenaMapping *self)
{
  return (self->flags & ARENA_MAPPING_WRITABLE) != 0;
}

/* A write that changes nothing, even while the peer writes: an atomic or with 0. The compiler must not know the 0, or
 * clang drops the whole operation, volatile or not. */
static void
touch_pages (const ArenaMapping *self)
{
  gsize page_size = get_page_size ();
  volatile guint8 zero = 0;

  for (gsize offset = 0; offset < self->length; offset += page_size)
    if (self->flags & ARENA_MAPPING_WRITABLE)
      atomic_fetch_or_explicit ((_Atomic guint8 *) (self->data + offset), zero, memory_order_relaxed);
    else
      (void) *(volatile guint8 *) (self->data + offset);
}

gboolean
arena_mapping_populate (ArenaMapping  *self,
                        GError       **error)
{
  int advice = self->flags & ARENA_MAPPING_WRITABLE ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  g_autofree char *object = NULL;
  int saved_errno;

  /* What an interrupted call has done stays done. */
  while (madvise (self->data, self->length, advice) != 0)
    {
      saved_errno = errno;
      if (saved_errno == EINTR)
        continue;

      /* Before Linux 5.14 */
      if (saved_errno == EINVAL)
        {
          touch_pages (self);
          return TRUE;
        }

      object = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes", self->length);
      arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, saved_errno, "madvise(MADV_POPULATE)", object);
      return FALSE;
    }

  return TRUE;
}

guint64
arena_mapping_get_resident (const ArenaMapping *self)
{
  const gsize page_size = get_page_size ();
  unsigned char states[1024];
  guint64 resident = 0;

  for (gsize offset = 0; offset < self->size; offset += sizeof states * page_size)
    {
      gsize length = MIN (self->size - offset, sizeof states * page_size);

      if (mincore (self->data + offset, length, states) != 0)
        return 0;

      for (gsize page = 0; page * page_size < length; page++)
        resident += states[page] & 1;
    }

  return MIN (resident * page_size, self->size);
}
