/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdio.h>
#include <string.h>

/* Errors that were asked for. Each has its own count of calls, so several may wait for the same function. */

#define MAX_INJECTIONS 32

typedef struct
{
  char function[64];
  int  nth, times, error;
  bool sticky;
  int  seen;
} Injection;

static Injection injections[MAX_INJECTIONS];
static int n_injections;

void
arena_fake_inject (const char *function,
                   int         nth,
                   int         times,
                   int         error,
                   bool        sticky)
{
  pthread_mutex_lock (&fake.lock);
  if (n_injections < MAX_INJECTIONS)
    {
      Injection *injection = &injections[n_injections++];

      *injection = (Injection) { .nth = nth, .times = times, .error = error, .sticky = sticky };
      snprintf (injection->function, sizeof injection->function, "%s", function);
    }
  else
    fake_violation ("more than %d injections", MAX_INJECTIONS);
  pthread_mutex_unlock (&fake.lock);
}

static bool
is_due (const Injection *injection)
{
  int late = injection->seen - injection->nth;

  return late >= 0 && (injection->times < 0 || late < injection->times);
}

int
fake_inject_take (const char *function)
{
  int error = CUDA_SUCCESS;

  for (int i = 0; i < n_injections; i++)
    {
      Injection *injection = &injections[i];

      if (strcmp (injection->function, "*") != 0 && strcmp (injection->function, function) != 0)
        continue;

      injection->seen++;
      if (error != CUDA_SUCCESS || !is_due (injection))
        continue;

      error = injection->error;
      if (injection->sticky)
        fake.lost = error;
    }

  return error;
}

void
fake_inject_clear (void)
{
  n_injections = 0;
}
