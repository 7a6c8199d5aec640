/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The table of ranges. Few live at a time, so it is a list. */

FakeMemory *
fake_memory_add (FakeMemoryKind kind,
                 void          *base,
                 size_t         size)
{
  FakeMemory *memory = calloc (1, sizeof *memory);

  memory->kind = kind;
  memory->base = base;
  memory->size = size;
  memory->fd = -1;
  memory->next = fake.memories;
  fake.memories = memory;
  return memory;
}

void
fake_memory_end (FakeMemory *memory)
{
  FakeMemory **link = &fake.memories;

  while (*link != memory)
    link = &(*link)->next;
  *link = memory->next;
  memory->next = fake.ended;
  fake.ended = memory;
}

static bool
touches (const FakeMemory *memory,
         const void       *pointer,
         size_t            size)
{
  uintptr_t start = (uintptr_t) pointer, base = (uintptr_t) memory->base;

  return start < base + memory->size && base < start + size;
}

FakeMemory *
fake_memory_touching (const void *pointer,
                      size_t      size)
{
  for (FakeMemory *memory = fake.memories; memory != NULL; memory = memory->next)
    if (touches (memory, pointer, size))
      return memory;

  return NULL;
}

FakeMemory *
fake_memory_covering (const void *pointer,
                      size_t      size)
{
  FakeMemory *memory = fake_memory_touching (pointer, size);
  uintptr_t start = (uintptr_t) pointer;

  if (memory == NULL || start < (uintptr_t) memory->base ||
      size > memory->size - (start - (uintptr_t) memory->base))
    return NULL;

  return memory;
}

FakeMemory *
fake_memory_device (const void *pointer,
                    size_t      size,
                    const char *what)
{
  FakeMemory *memory = fake_memory_covering (pointer, size);

  if (memory != NULL && memory->kind == FAKE_MEMORY_DEVICE)
    return memory;

  fake_violation ("%s: %zu bytes at %p are not in device memory", what, size, pointer);
  return NULL;
}

bool
fake_memory_was_pinned (const void *pointer,
                        size_t      size)
{
  for (FakeMemory *memory = fake.ended; memory != NULL; memory = memory->next)
    if (memory->kind == FAKE_MEMORY_REGISTERED && touches (memory, pointer, size))
      return true;

  return false;
}

uint64_t
fake_memory_total (FakeMemoryKind kind,
                   uint64_t      *count)
{
  uint64_t total = 0;

  *count = 0;
  for (FakeMemory *memory = fake.memories; memory != NULL; memory = memory->next)
    if (memory->kind == kind)
      {
        total += memory->size;
        ++*count;
      }

  return total;
}

/* Eight bytes at a time; collisions don't matter, speed does a little. */
uint64_t
fake_hash (const void *data,
           size_t      size)
{
  const uint8_t *bytes = data;
  uint64_t hash = size, word = 0;

  for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word)
    {
      memcpy (&word, bytes, sizeof word);
      hash = (hash ^ word) * UINT64_C (0x9e3779b97f4a7c15);
      hash ^= hash >> 29;
    }
  for (; size > 0; size--, bytes++)
    hash = (hash ^ *bytes) * UINT64_C (0x9e3779b97f4a7c15);

  return hash;
}

bool
fake_find_file (const void *pointer,
                char       *file,
                size_t      size,
                bool       *writable)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  char line[512];
  bool found = false;

  while (maps != NULL && !found && fgets (line, sizeof line, maps) != NULL)
    {
      uintptr_t start, end;
      char mode[8], device[16], inode[24];

      if (sscanf (line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %15s %23s", &start, &end, mode, device, inode) != 5 ||
          (uintptr_t) pointer < start || (uintptr_t) pointer >= end)
        continue;

      found = true;
      *writable = mode[1] == 'w';
      snprintf (file, size, "%s %s", device, inode);
    }

  if (maps != NULL)
    fclose (maps);
  return found;
}

static bool
is_mapped (const void *pointer,
           size_t      size)
{
  uintptr_t page = (uintptr_t) sysconf (_SC_PAGESIZE);
  uintptr_t start = (uintptr_t) pointer & ~(page - 1);
  size_t length = (uintptr_t) pointer + size - start;
  unsigned char *states = malloc (length / page + 1);
  bool mapped = mincore ((void *) start, length, states) == 0;

  free (states);
  return mapped;
}

void
fake_audit (void)
{
  for (FakeMemory *memory = fake.memories; memory != NULL; memory = memory->next)
    {
      char file[sizeof memory->file];
      bool writable;

      if (memory->kind != FAKE_MEMORY_REGISTERED || memory->reported)
        continue;

      if (is_mapped (memory->base, memory->size) && fake_find_file (memory->base, file, sizeof file, &writable) &&
          strcmp (file, memory->file) == 0)
        continue;

      memory->reported = true;
      fake_violation ("audit: the registered range %p of %zu bytes is no longer what was registered",
                      (void *) memory->base, memory->size);
    }
}

bool
arena_fake_is_pinned (const void *pointer,
                      uint64_t    size)
{
  FakeMemory *memory;
  bool pinned;

  pthread_mutex_lock (&fake.lock);
  memory = fake_memory_covering (pointer, size);
  pinned = memory != NULL && memory->kind != FAKE_MEMORY_DEVICE;
  pthread_mutex_unlock (&fake.lock);
  return pinned;
}
