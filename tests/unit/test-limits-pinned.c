/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error.h"
#include "memory/arena-limits-private.h"

#define MIB (G_GUINT64_CONSTANT (1) << 20)

/* Memory that is reserved already and is to stay: what counts are the machine's memory and the groups' limits, and neither
 * swap nor what is in use. */

static char *
new_roots (const char *meminfo,
           const char *limit)
{
  char *folder = arena_test_temp_dir_new ();
  const struct { const char *name, *text; } files[] = {
    { "meminfo", meminfo },
    { "self/cgroup", "0::/box\n" },
    { "box/memory.max", limit },
    { "box/memory.current", "1000000000000\n" },
    { "box/memory.stat", "active_file 0\ninactive_file 0\n" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    if (files[i].text != NULL)
      {
        g_autofree char *path = g_build_filename (folder, files[i].name, NULL);
        g_autofree char *parent = g_path_get_dirname (path);

        g_assert_no_errno (g_mkdir_with_parents (parent, 0700));
        g_assert_true (g_file_set_contents_full (path, files[i].text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
      }

  return folder;
}

static void
test_pinned (void)
{
  const char *meminfo = "MemTotal: 65536 kB\nMemAvailable: 0 kB\nSwapFree: 1000000 kB\n";
  const struct { const char *meminfo, *limit; guint64 need, pinned; const char *text; } rows[] = {
    { meminfo, NULL, 64 * MIB, 0, NULL },
    { meminfo, NULL, 64 * MIB + 1, 0, "needs 67108865 bytes, the machine's memory (MemTotal) allows 67108864 (limit)" },
    { meminfo, NULL, 32 * MIB, 32 * MIB, NULL },
    { meminfo, NULL, 32 * MIB, 33 * MIB, "has 32505856 left" },
    { meminfo, "16777216\n", 16 * MIB, 0, NULL },
    { meminfo, "16777216\n", 17 * MIB, 0, "needs 17825792 bytes, cgroup /box allows 16777216 (limit)" },
    { meminfo, "16777216\n", 8 * MIB, 9 * MIB, "cgroup /box allows 16777216 (limit) and has 7340032 left" },
    { meminfo, "max\n", 64 * MIB, 0, NULL },
    { NULL, NULL, G_MAXUINT64, 0, NULL },
    { "MemTotal: many kB\n", NULL, G_MAXUINT64, 0, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *folder = new_roots (rows[i].meminfo, rows[i].limit);
      const ArenaLimitsRoots roots = { .proc = folder, .cgroup = folder };
      g_autoptr(GError) error = NULL;

      g_assert_cmpint (arena_limits_check_pinned (rows[i].need, rows[i].pinned, &roots, &error), ==,
                       rows[i].text == NULL);
      if (rows[i].text != NULL)
        arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, rows[i].text);
      arena_test_temp_dir_free (folder);
    }
}

/* The real folders of whatever machine this is. */
static void
test_real (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_limits_check_pinned (4096, 0, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (arena_limits_check_pinned (G_GUINT64_CONSTANT (1) << 62, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 4611686018427387904 bytes");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/limits-pinned/what-counts", test_pinned);
  arena_test_add ("/arena/limits-pinned/real-machine", test_real);
  return g_test_run ();
}
