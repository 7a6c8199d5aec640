/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-limits-private.h"

#include "base/arena-checked-private.h"

#include <string.h>

/* A memory cgroup's limit binds all that is below it, so each ancestor is asked. Inside a container the path in
 * /proc/self/cgroup may be the host's while the container's own group is mounted as the root: its folders then don't
 * exist here, which is no limit, and the walk still ends at the root, which is the one that counts. */

typedef struct
{
  const char *controller; /* as in the second field of /proc/self/cgroup; "" is v2 */
  const char *folder;     /* below the mount of all hierarchies */
  const char *limit;
  const char *usage;
  const char *active_file;
  const char *inactive_file;
} Version;

static const Version versions[] = {
  { "", "", "memory.max", "memory.current", "active_file", "inactive_file" },
  { "memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file", "total_inactive_file" },
};

static char *
read_file (const char *folder,
           const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  return text;
}

static guint64
read_number (const char *folder,
             const char *name)
{
  g_autofree char *text = read_file (folder, name);

  return text != NULL ? arena_limits_parse (text) : ARENA_LIMITS_NONE;
}

/* What is in use and can't be dropped: the page cache of files on disk can. Unknown is 0. */
static guint64
get_used (const Version *version,
          const char    *folder)
{
  g_autofree char *stat = read_file (folder, "memory.stat");
  guint64 usage = read_number (folder, version->usage);
  guint64 active, inactive, cache;

  if (stat == NULL || usage == ARENA_LIMITS_NONE)
    return 0;

  active = arena_limits_parse_key (stat, version->active_file);
  inactive = arena_limits_parse_key (stat, version->inactive_file);
  if (!arena_checked_add (active, inactive, &cache))
    return 0;

  return usage - MIN (usage, cache);
}

static gboolean
check_group (const Version  *version,
             const char     *root,
             const char     *group,
             guint64         need,
             guint64         pinned,
             GError        **error)
{
  g_autofree char *folder = g_build_filename (root, version->folder, group, NULL);
  guint64 limit = read_number (folder, version->limit);
  guint64 used = pinned;
  g_autofree char *name = NULL;

  if (limit == ARENA_LIMITS_NONE)
    return TRUE;

  if (used == ARENA_LIMITS_NONE)
    used = get_used (version, folder);
  name = g_strdup_printf ("cgroup %s", group);
  return arena_limits_compare (need, name, limit, used, error);
}

/* @group is cut to each ancestor in turn. A ".." is a group outside our namespace: nothing below the root is ours. */
static gboolean
check_ancestors (const Version  *version,
                 const char     *root,
                 char           *group,
                 guint64         need,
                 guint64         pinned,
                 GError        **error)
{
  if (strstr (group, "/..") != NULL)
    *group = '\0';

  while (*group != '\0')
    {
      if (group[1] != '\0' && !check_group (version, root, group, need, pinned, error))
        return FALSE;
      *strrchr (group, '/') = '\0';
    }

  return check_group (version, root, "/", need, pinned, error);
}

/* A line is "id:controller,controller:/path". */
static gboolean
check_line (char                    *line,
            const ArenaLimitsRoots  *roots,
            guint64                  need,
            guint64                  pinned,
            GError                 **error)
{
  g_auto (GStrv) fields = g_strsplit (line, ":", 3);
  g_auto (GStrv) controllers = NULL;

  if (g_strv_length (fields) != 3 || fields[2][0] != '/')
    return TRUE;

  controllers = g_strsplit (fields[1], ",", -1);
  for (gsize i = 0; i < G_N_ELEMENTS (versions); i++)
    {
      gboolean matches = *versions[i].controller == '\0'
                         ? fields[1][0] == '\0'
                         : g_strv_contains ((const char *const *) controllers, versions[i].controller);

      if (matches)
        return check_ancestors (&versions[i], roots->cgroup, fields[2], need, pinned, error);
    }

  return TRUE;
}

gboolean
arena_limits_check_cgroups (guint64                  need,
                            guint64                  pinned,
                            const ArenaLimitsRoots  *roots,
                            GError                 **error)
{
  g_autofree char *text = read_file (roots->proc, "self/cgroup");
  g_auto (GStrv) lines = NULL;

  if (text == NULL)
    return TRUE;

  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (!check_line (lines[i], roots, need, pinned, error))
      return FALSE;

  return TRUE;
}
