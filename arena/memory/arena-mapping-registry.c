/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-mapping-registry-private.h"

#if ARENA_THREAD_SANITIZER

#include "memory/arena-fork-private.h"

#include <pthread.h>
#include <sys/stat.h>

/* The entries live and die under one lock, which is not a GMutex: ThreadSanitizer doesn't see into GLib. A file is
 * known by device and inode, which can't be reused while it is mapped. A forked child starts over: control mappings of
 * its parent are not there. */

typedef struct
{
  dev_t             device;
  ino_t             inode;
  ArenaMappingFlags shape;
  guint             generation;
  ArenaMapping     *mapping; /* not owned */
} Entry;

#define SHAPE_MASK (ARENA_MAPPING_TWICE | ARENA_MAPPING_CONTROL)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static GSList *entries;

void
arena_mapping_registry_lock (void)
{
  pthread_mutex_lock (&mutex);
}

void
arena_mapping_registry_unlock (void)
{
  pthread_mutex_unlock (&mutex);
}

ArenaMapping *
arena_mapping_registry_lookup (int               fd,
                               gsize             size,
                               ArenaMappingFlags flags)
{
  struct stat info;

  if (fstat (fd, &info) != 0)
    return NULL;

  for (GSList *link = entries; link != NULL; link = link->next)
    {
      Entry *entry = link->data;

      if (entry->device == info.st_dev && entry->inode == info.st_ino &&
          entry->shape == (flags & SHAPE_MASK) && arena_fork_is_current (entry->generation) &&
          arena_mapping_get_size (entry->mapping) == size)
        return arena_mapping_ref (entry->mapping);
    }

  return NULL;
}

void
arena_mapping_registry_insert (int               fd,
                               ArenaMapping     *mapping,
                               ArenaMappingFlags flags)
{
  struct stat info;
  Entry *entry;

  if (fstat (fd, &info) != 0)
    return;

  entry = g_new0 (Entry, 1);
  entry->device = info.st_dev;
  entry->inode = info.st_ino;
  entry->shape = flags & SHAPE_MASK;
  entry->generation = arena_fork_generation ();
  entry->mapping = mapping;
  entries = g_slist_prepend (entries, entry);
}

void
arena_mapping_registry_remove (ArenaMapping *mapping)
{
  for (GSList *link = entries; link != NULL; link = link->next)
    {
      Entry *entry = link->data;

      if (entry->mapping == mapping)
        {
          entries = g_slist_delete_link (entries, link);
          g_free (entry);
          return;
        }
    }
}

#else

/* An empty translation unit is not C. */
typedef int arena_mapping_registry_unused;

#endif
