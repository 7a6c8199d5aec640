/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What was called and what was wrong. A child of a process with an initialised runtime may not take the lock, so its
 * calls are counted in a page that both share, and written to the file at once. */

static ArenaFakeEntry *entries;
static uint64_t n_entries, allocated, last_seq;
static char *violations;
static uint64_t n_violations;
static _Atomic uint64_t *child_calls;
static int file = -1;

__attribute__ ((constructor (101))) static void
open_log (void)
{
  const char *path = getenv ("ARENA_FAKE_LOG");

  child_calls = mmap (NULL, sizeof *child_calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (path != NULL)
    file = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static void
add_entry (const ArenaFakeEntry *entry)
{
  if (n_entries == allocated)
    {
      allocated = allocated == 0 ? 256 : 2 * allocated;
      entries = realloc (entries, allocated * sizeof *entries);
    }

  entries[n_entries] = *entry;
  entries[n_entries].seq = ++last_seq;
  entries[n_entries].pid = getpid ();
  entries[n_entries].tid = gettid ();
  n_entries++;
}

static void
write_entry (const ArenaFakeEntry *entry)
{
  dprintf (file, "%d %d %s device=%d stream=%#lx ptr=%#lx other=%#lx len=%lu flags=%u result=%d\n",
           entry->pid, entry->tid, entry->function, entry->device, (unsigned long) entry->stream,
           (unsigned long) entry->ptr, (unsigned long) entry->other, (unsigned long) entry->len, entry->flags,
           entry->result);
}

void
fake_log_add (const FakeCall *call)
{
  ArenaFakeEntry entry = {
    .function = call->function,
    .device = call->thread->device,
    .stream = (uintptr_t) call->stream,
    .ptr = (uintptr_t) call->ptr,
    .other = (uintptr_t) call->other,
    .len = call->len,
    .flags = call->flags,
    .result = call->result,
  };

  add_entry (&entry);
  if (fake.exiting && file >= 0)
    write_entry (&entries[n_entries - 1]);
}

void
fake_log_vm_event (const char *operation,
                   const void *pointer,
                   size_t      size)
{
  ArenaFakeEntry entry = { .function = operation, .ptr = (uintptr_t) pointer, .len = size };

  add_entry (&entry);
}

void
fake_log_child (const char *function)
{
  (*child_calls)++;
  if (file >= 0)
    dprintf (file, "%d %d %s forked result=%d\n", getpid (), gettid (), function, CUDA_INITIALIZATION_ERROR);
}

void
fake_violation (const char *format,
                ...)
{
  size_t length = violations != NULL ? strlen (violations) : 0;
  char line[512];
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (line, sizeof line, format, arguments);
  va_end (arguments);
  n_violations++;
  violations = realloc (violations, length + strlen (line) + 2);
  sprintf (violations + length, "%s\n", line);
}

void
fake_log_reset (void)
{
  n_entries = 0;
  free (violations);
  violations = NULL;
  n_violations = 0;
  *child_calls = 0;
}

/* Nothing is freed: a thread may still be calling. */
void
fake_log_exit (void)
{
  if (file < 0 || (fake.pid != 0 && fake.pid != getpid ()))
    return;

  for (uint64_t i = 0; i < n_entries; i++)
    write_entry (&entries[i]);
  if (violations != NULL)
    dprintf (file, "%d violations %lu:\n%s", getpid (), (unsigned long) n_violations, violations);
}

uint64_t
arena_fake_log (uint64_t        n,
                ArenaFakeEntry *entry)
{
  uint64_t total;

  pthread_mutex_lock (&fake.lock);
  total = n_entries;
  if (n < total && entry != NULL)
    *entry = entries[n];
  pthread_mutex_unlock (&fake.lock);
  return total;
}

void
arena_fake_log_clear (void)
{
  pthread_mutex_lock (&fake.lock);
  n_entries = 0;
  pthread_mutex_unlock (&fake.lock);
}

uint64_t
arena_fake_count (const char *function)
{
  uint64_t n = 0;

  pthread_mutex_lock (&fake.lock);
  for (uint64_t i = 0; i < n_entries; i++)
    n += strcmp (entries[i].function, function) == 0;
  pthread_mutex_unlock (&fake.lock);
  return n;
}

uint64_t
arena_fake_violations (const char **text)
{
  uint64_t n;

  pthread_mutex_lock (&fake.lock);
  fake_audit ();
  n = n_violations;
  if (text != NULL)
    *text = violations != NULL ? violations : "";
  pthread_mutex_unlock (&fake.lock);
  return n;
}

uint64_t
arena_fake_child_calls (void)
{
  return *child_calls;
}
