/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The control calls as text, for processes that a test can't reach into, and what happens at start and at exit. */

static bool
run_command (const char *line)
{
  char name[32] = "", word[64] = "";
  long a = 0, b = 0, c = 0;
  int d = 0;

  if (sscanf (line, "%31s", name) != 1)
    return true;
  if (strcmp (name, "inject") == 0)
    {
      if (sscanf (line, "%*s %63s %ld %ld %ld %d", word, &a, &b, &c, &d) < 4)
        return false;
      arena_fake_inject (word, (int) a, (int) b, (int) c, d != 0);
      return true;
    }

  sscanf (line, "%*s %ld %ld %ld", &a, &b, &c);
  if (strcmp (name, "set_devices") == 0)
    arena_fake_set_devices ((int) a);
  else if (strcmp (name, "set_driver") == 0)
    arena_fake_set_driver ((int) a);
  else if (strcmp (name, "set_stub") == 0)
    arena_fake_set_stub (a != 0);
  else if (strcmp (name, "set_attr") == 0)
    arena_fake_set_attr ((int) a, (int) b, (int) c);
  else if (strcmp (name, "set_mode") == 0)
    arena_fake_set_mode ((ArenaFakeMode) a, (int) b);
  else if (strcmp (name, "step") == 0)
    arena_fake_step (NULL, (int) a);
  else if (strcmp (name, "inject_async") == 0)
    arena_fake_inject_async (NULL, (int) a);
  else if (strcmp (name, "damage") == 0)
    arena_fake_damage ((int) a);
  else if (strcmp (name, "pin_limit") == 0)
    arena_fake_pin_limit ((uint64_t) a);
  else if (strcmp (name, "set_capture") == 0)
    arena_fake_set_capture (a != 0);
  else if (strcmp (name, "reset") == 0)
    arena_fake_reset ();
  else
    return false;

  return true;
}

int
arena_fake_script (const char *commands)
{
  char *copy = strdup (commands), *rest = copy, *line;
  int n_unknown = 0;

  while ((line = strsep (&rest, "\n;")) != NULL)
    n_unknown += !run_command (line);

  free (copy);
  return n_unknown;
}

/* Defined by the guard, where there is one. */
extern void arena_fake_guard_add (void (*report) (const char *operation, const void *pointer, uint64_t size))
  __attribute__ ((weak));

__attribute__ ((constructor (103))) static void
start (void)
{
  const char *commands = getenv ("ARENA_FAKE_SCRIPT");

  if (commands != NULL && arena_fake_script (commands) != 0)
    {
      fprintf (stderr, "ARENA_FAKE_SCRIPT: not understood: %s\n", commands);
      abort ();
    }
  if (arena_fake_guard_add != NULL)
    arena_fake_guard_add (arena_fake_vm_event);
}

__attribute__ ((destructor)) static void
end (void)
{
  pid_t pid = __atomic_load_n (&fake.pid, __ATOMIC_RELAXED);

  if (pid != 0 && pid != getpid ())
    return;

  pthread_mutex_lock (&fake.lock);
  fake_audit ();
  fake_log_exit ();
  fake.exiting = true;
  pthread_mutex_unlock (&fake.lock);
}
