/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-killpoint-private.h"

#ifdef ARENA_TEST_HOOKS

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* The two variables are read once, under a lock, by whichever thread passes a point first; from then on `state` says
 * whether there is anything to do, and everything else is read-only or atomic. A point is logged before it kills, so
 * the log of a killed process holds the point that it died at. */

enum
{
  STATE_UNREAD,
  STATE_IDLE,
  STATE_ACTIVE,
};

static GMutex lock; /* guards reading the variables */
static _Atomic int state;
static char *log_path;
static guint kill_at; /* ArenaKillPoint; ARENA_N_KILL_POINTS: none */
static guint kill_count;
static _Atomic guint passed[ARENA_N_KILL_POINTS];

static const char *const nicks[] = {
#define X(name, nick) nick,
  ARENA_KILL_POINTS (X)
#undef X
};

const char *
arena_kill_point_nick (ArenaKillPoint point)
{
  g_return_val_if_fail (point < ARENA_N_KILL_POINTS, NULL);

  return nicks[point];
}

/* A point that doesn't exist would make a test pass in silence, so it aborts. */
static void
parse_point (const char *text)
{
  const char *colon = strchr (text, ':');
  guint64 count;

  if (colon == NULL || !g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXUINT, &count, NULL))
    g_error ("ARENA_KILL_POINT=%s: must be <nick>:<n> with n >= 1", text);

  kill_count = (guint) count;
  for (kill_at = 0; kill_at < ARENA_N_KILL_POINTS; kill_at++)
    if (strlen (nicks[kill_at]) == (gsize) (colon - text) && g_str_has_prefix (text, nicks[kill_at]))
      return;

  g_error ("ARENA_KILL_POINT=%s: no such point", text);
}

static int
read_variables (void)
{
  const char *point = g_getenv ("ARENA_KILL_POINT");
  const char *log = g_getenv ("ARENA_KILL_LOG");

  g_free (log_path);
  log_path = log != NULL && *log != '\0' ? g_strdup (log) : NULL;
  kill_at = ARENA_N_KILL_POINTS;
  if (point != NULL && *point != '\0')
    parse_point (point);

  return log_path != NULL || kill_at < ARENA_N_KILL_POINTS ? STATE_ACTIVE : STATE_IDLE;
}

void
arena_kill_point_reload (void)
{
  g_mutex_lock (&lock);
  for (guint i = 0; i < ARENA_N_KILL_POINTS; i++)
    atomic_store (&passed[i], 0);
  atomic_store (&state, read_variables ());
  g_mutex_unlock (&lock);
}

static gboolean
is_active (void)
{
  int now = atomic_load_explicit (&state, memory_order_acquire);

  if (G_LIKELY (now != STATE_UNREAD))
    return now == STATE_ACTIVE;

  g_mutex_lock (&lock);
  if (atomic_load (&state) == STATE_UNREAD)
    atomic_store (&state, read_variables ());
  g_mutex_unlock (&lock);
  return atomic_load (&state) == STATE_ACTIVE;
}

/* One write of one line to a file opened for appending: lines of several processes don't mix. */
static void
append_to_log (ArenaKillPoint point)
{
  char line[64];
  int length = g_snprintf (line, sizeof line, "%s\n", nicks[point]);
  int fd = open (log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

  if (fd < 0)
    return;

  (void) !write (fd, line, (gsize) length);
  close (fd);
}

void
arena_kill_point (ArenaKillPoint point)
{
  guint count;

  if (!is_active ())
    return;

  count = atomic_fetch_add (&passed[point], 1) + 1;
  if (count == 1 && log_path != NULL)
    append_to_log (point);

  if (point == kill_at && count == kill_count)
    for (;;)
      {
        kill (getpid (), SIGKILL);
        pause ();
      }
}

#endif /* ARENA_TEST_HOOKS */
