/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-spin-private.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

/* Sleeping costs the sleeper a wake-up (22 to 38 us between two CPUs of a virtual machine) and the waker a system call
 * (7 to 9 us), so looking again for up to this long is cheaper than going to sleep. */
#define SPIN_MAX_NS 25000

#define CALIBRATION_PAUSES 256

gboolean
arena_spin_quota_is_single (const char *text)
{
  char *end = NULL;
  guint64 quota = g_ascii_strtoull (text, &end, 10);
  guint64 period;

  if (end == text)
    return FALSE; /* "max", or nothing we know: unknown never restricts */

  period = g_ascii_strtoull (end, NULL, 10);
  return quota <= (period != 0 ? period : 100000);
}

static gboolean
quota_is_single (void)
{
  g_autofree char *groups = NULL;
  g_autofree char *path = NULL;
  g_autofree char *limit = NULL;
  const char *own;

  if (!g_file_get_contents ("/proc/self/cgroup", &groups, NULL, NULL))
    return FALSE;

  own = g_str_has_prefix (groups, "0::") ? groups : strstr (groups, "\n0::");
  if (own == NULL)
    return FALSE;

  own = strchr (own, '/');
  if (own == NULL)
    return FALSE;

  path = g_strdup_printf ("/sys/fs/cgroup%.*s/cpu.max", (int) strcspn (own, "\n"), own);
  return g_file_get_contents (path, &limit, NULL, NULL) && arena_spin_quota_is_single (limit);
}

static guint
measure_limit (void)
{
  gint64 elapsed;
  gint64 started;

  if (sysconf (_SC_NPROCESSORS_ONLN) <= 1 || quota_is_single ())
    return 0;

  /* The cost of a pause differs by a factor of ten between processors. Preemption can only make it look dearer,
   * which shortens the spin. */
  started = g_get_monotonic_time ();
  for (guint i = 0; i < CALIBRATION_PAUSES; i++)
    arena_cpu_relax ();
  elapsed = MAX (g_get_monotonic_time () - started, 1);

  return (guint) CLAMP (SPIN_MAX_NS / 1000 * CALIBRATION_PAUSES / elapsed, 16, 20000);
}

guint
arena_spin_limit (void)
{
  static gsize limit_plus_one = 0;

  if (g_once_init_enter (&limit_plus_one))
    g_once_init_leave (&limit_plus_one, (gsize) measure_limit () + 1);

  return (guint) limit_plus_one - 1;
}
