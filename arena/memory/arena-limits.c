/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-limits-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-error.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A reservation that the machine can't hold is refused here, with words, before the kernel refuses it by SIGXFSZ, by
 * the out-of-memory killer or by swapping everything out. The files read here are advice: others take memory at the
 * same time, so only what certainly can't work is refused, and what can't be read is taken as no limit. */

#define UNLIMITED_FROM (G_GUINT64_CONSTANT (1) << 62)

static const ArenaLimitsRoots kernel_roots = {
  .proc = "/proc",
  .cgroup = "/sys/fs/cgroup",
};

guint64
arena_limits_parse (const char *text)
{
  char *end;
  guint64 value;

  while (g_ascii_isspace (*text))
    text++;

  /* strtoull would take a sign. */
  if (!g_ascii_isdigit (*text))
    return ARENA_LIMITS_NONE;

  value = g_ascii_strtoull (text, &end, 10);
  if ((*end != '\0' && !g_ascii_isspace (*end)) || value >= UNLIMITED_FROM)
    return ARENA_LIMITS_NONE;

  return value;
}

guint64
arena_limits_parse_key (const char *text,
                        const char *key)
{
  gsize length = strlen (key);

  for (const char *line = text; line != NULL; line = strchr (line, '\n'))
    {
      line += *line == '\n';
      if (strncmp (line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t'))
        return arena_limits_parse (line + length);
    }

  return ARENA_LIMITS_NONE;
}

gboolean
arena_limits_compare (guint64      need,
                      const char  *name,
                      guint64      limit,
                      guint64      used,
                      GError     **error)
{
  guint64 left = limit - MIN (limit, used);

  if (limit == ARENA_LIMITS_NONE || need <= left)
    return TRUE;

  g_set_error (error,
               ARENA_ERROR,
               ARENA_ERROR_NO_SPACE,
               "needs %" G_GUINT64_FORMAT " bytes, %s allows %" G_GUINT64_FORMAT " (limit) and has %" G_GUINT64_FORMAT
               " left",
               need,
               name,
               limit,
               left);
  return FALSE;
}

/* @status is what getrlimit() returned. */
static guint64
get_soft_limit (int                  status,
                const struct rlimit *limit)
{
  return status != 0 || limit->rlim_cur == RLIM_INFINITY ? ARENA_LIMITS_NONE : limit->rlim_cur;
}

/* 0 where it is unknown. */
static guint64
get_address_space (const ArenaLimitsRoots *roots)
{
  g_autofree char *path = g_build_filename (roots->proc, "self", "statm", NULL);
  g_autofree char *text = NULL;
  guint64 bytes;

  if (!g_file_get_contents (path, &text, NULL, NULL) ||
      !arena_checked_mul (arena_limits_parse (text), (guint64) sysconf (_SC_PAGESIZE), &bytes))
    return 0;

  return bytes;
}

gboolean
arena_limits_check_address_space (guint64                  need,
                                  const ArenaLimitsRoots  *roots,
                                  GError                 **error)
{
  struct rlimit rlimit;
  guint64 limit = get_soft_limit (getrlimit (RLIMIT_AS, &rlimit), &rlimit);

  if (limit == ARENA_LIMITS_NONE)
    return TRUE;

  if (roots == NULL)
    roots = &kernel_roots;

  return arena_limits_compare (need, "RLIMIT_AS", limit, get_address_space (roots), error);
}

/* Swap counts: pages of a memory file can go there. */
static gboolean
check_memory (guint64                  need,
              const ArenaLimitsRoots  *roots,
              GError                 **error)
{
  g_autofree char *path = g_build_filename (roots->proc, "meminfo", NULL);
  g_autofree char *text = NULL;
  guint64 available, swap, kib, bytes;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return TRUE;

  available = arena_limits_parse_key (text, "MemAvailable:");
  swap = arena_limits_parse_key (text, "SwapFree:");
  if (available == ARENA_LIMITS_NONE || swap == ARENA_LIMITS_NONE ||
      !arena_checked_add (available, swap, &kib) || !arena_checked_mul (kib, 1024, &bytes) || need <= bytes)
    return TRUE;

  g_set_error (error,
               ARENA_ERROR,
               ARENA_ERROR_NO_SPACE,
               "needs %" G_GUINT64_FORMAT " bytes, the machine has %" G_GUINT64_FORMAT
               " left (MemAvailable + SwapFree)",
               need,
               bytes);
  return FALSE;
}

gboolean
arena_limits_check_file_size (guint64   size,
                              GError  **error)
{
  struct rlimit rlimit;
  guint64 limit = get_soft_limit (getrlimit (RLIMIT_FSIZE, &rlimit), &rlimit);

  return arena_limits_compare (size, "RLIMIT_FSIZE", limit, 0, error);
}

gboolean
arena_limits_check (guint64                  need,
                    const ArenaLimitsRoots  *roots,
                    GError                 **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (roots == NULL)
    roots = &kernel_roots;

  return arena_limits_check_file_size (need, error) &&
         arena_limits_check_address_space (need, roots, error) &&
         check_memory (need, roots, error) &&
         arena_limits_check_cgroups (need, ARENA_LIMITS_NONE, roots, error);
}

gboolean
arena_limits_check_pinned (guint64                  need,
                           guint64                  pinned,
                           const ArenaLimitsRoots  *roots,
                           GError                 **error)
{
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  guint64 total = ARENA_LIMITS_NONE;

  if (roots == NULL)
    roots = &kernel_roots;

  path = g_build_filename (roots->proc, "meminfo", NULL);
  if (g_file_get_contents (path, &text, NULL, NULL) &&
      !arena_checked_mul (arena_limits_parse_key (text, "MemTotal:"), 1024, &total))
    total = ARENA_LIMITS_NONE;

  return arena_limits_compare (need, "the machine's memory (MemTotal)", total, pinned, error) &&
         arena_limits_check_cgroups (need, pinned, roots, error);
}
