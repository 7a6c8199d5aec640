/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error.h"
#include "memory/arena-limits-private.h"

#include <string.h>

/* Trees as the kernel shows them, in a folder of our own. A row has the text of /proc/self/cgroup, then up to 8 files
 * as "path=content", and what an error must say (NULL: no error). */

typedef struct
{
  const char *membership;
  const char *files[8];
  guint64     need;
  const char *text;
} Row;

#define KIB_64 "65536\n"

static void
write_file (const char *folder,
            const char *name,
            const char *content)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  g_assert_no_errno (g_mkdir_with_parents (parent, 0700));
  g_assert_true (g_file_set_contents_full (path, content, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
check_row (const Row *row)
{
  char *folder = arena_test_temp_dir_new ();
  g_autofree char *proc = g_build_filename (folder, "proc", NULL);
  g_autofree char *cgroup = g_build_filename (folder, "cgroup", NULL);
  const ArenaLimitsRoots roots = { .proc = proc, .cgroup = cgroup };
  g_autoptr (GError) error = NULL;
  gboolean passed;

  if (row->membership != NULL)
    write_file (proc, "self/cgroup", row->membership);
  for (gsize i = 0; i < G_N_ELEMENTS (row->files) && row->files[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (row->files[i], "=", 2);

      write_file (cgroup, parts[0], parts[1]);
    }

  passed = arena_limits_check (row->need, &roots, &error);
  g_test_message ("%s: %s", row->membership, error != NULL ? error->message : "passed");
  if (row->text != NULL)
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, row->text);
  else
    g_assert_no_error (error);
  g_assert_cmpint (passed, ==, row->text == NULL);
  arena_test_temp_dir_free (folder);
}

#define check_rows(rows) \
  G_STMT_START \
    { \
      for (gsize i_ = 0; i_ < G_N_ELEMENTS (rows); i_++) \
        check_row (&(rows)[i_]); \
    } \
  G_STMT_END

static void
test_v2 (void)
{
  const Row rows[] = {
    { "0::/a/b\n", { "a/b/memory.max=" KIB_64 }, 65536, NULL },
    { "0::/a/b\n",
      { "a/b/memory.max=67108864\n" },
      134217728,
      "needs 134217728 bytes, cgroup /a/b allows 67108864 (limit) and has 67108864 left" },
    { "0::/a/b\n",
      { "a/b/memory.max=" KIB_64, "a/b/memory.current=60000\n",
        "a/b/memory.stat=anon 1\nactive_file 10000\ninactive_file 20000\n" },
      35536,
      NULL },
    { "0::/a/b\n",
      { "a/b/memory.max=" KIB_64, "a/b/memory.current=60000\n",
        "a/b/memory.stat=anon 1\nactive_file 10000\ninactive_file 20000\n" },
      35537,
      "cgroup /a/b allows 65536 (limit) and has 35536 left" },
    /* Another group's limit is not ours. */
    { "0::/a/b\n", { "a/c/memory.max=1\n", "a/b/c/memory.max=1\n" }, 65536, NULL },
    /* The root of a container's own namespace. */
    { "0::/\n", { "memory.max=" KIB_64 }, 65537, "cgroup / allows 65536" },
    { "0::/with:colon and space", { "with:colon and space/memory.max=1" }, 2, "cgroup /with:colon and space allows 1" },
  };

  check_rows (rows);
}

static void
test_v2_ancestors (void)
{
  const Row rows[] = {
    { "0::/a/b/c\n",
      { "a/b/c/memory.max=max\n", "a/b/memory.max=max\n", "a/memory.max=" KIB_64 },
      65537,
      "cgroup /a allows" },
    { "0::/a/b/c\n", { "a/b/c/memory.max=100000\n", "a/b/memory.max=" KIB_64 }, 65537, "cgroup /a/b allows" },
    { "0::/a/b/c\n", { "memory.max=" KIB_64 }, 65537, "cgroup / allows" },
    { "0::/a/b/c\n", { "a/b/c/memory.max=70000\n", "a/b/memory.max=70000\n", "a/memory.max=70000\n" }, 70000, NULL },
    /* The nearest that refuses is named. */
    { "0::/a/b/c\n", { "a/b/c/memory.max=100\n", "a/memory.max=50\n" }, 101, "cgroup /a/b/c allows 100" },
    /* What other groups use counts too. */
    { "0::/a/b\n",
      { "a/b/memory.max=" KIB_64, "a/memory.max=" KIB_64, "a/memory.current=65000\n",
        "a/memory.stat=active_file 0\ninactive_file 0\n" },
      1000,
      "cgroup /a allows 65536 (limit) and has 536 left" },
  };

  check_rows (rows);
}

static void
test_v1 (void)
{
  const char *membership = "12:pids:/a/b\n5:cpu,memory:/a/b\n1:name=systemd:/x\n0::/\n";
  const char *unlimited = "memory/a/b/memory.limit_in_bytes=9223372036854771712\n";
  const Row rows[] = {
    { membership, { "memory/a/b/memory.limit_in_bytes=" KIB_64 }, 65537, "cgroup /a/b allows 65536" },
    { membership, { unlimited }, G_MAXUINT64, NULL },
    { membership, { unlimited, "memory/a/memory.limit_in_bytes=" KIB_64 }, 65537, "cgroup /a allows 65536" },
    { membership,
      { "memory/a/b/memory.limit_in_bytes=" KIB_64, "memory/a/b/memory.usage_in_bytes=60000\n",
        "memory/a/b/memory.stat=active_file 7\ninactive_file 7\ntotal_active_file 10000\ntotal_inactive_file 20000\n" },
      35537,
      "has 35536 left" },
    /* A container that sees the host's path and its own group as the root. */
    { "5:memory:/docker/0123\n", { "memory/memory.limit_in_bytes=" KIB_64 }, 65537, "cgroup / allows 65536" },
    { "5:memory2:/a\n", { "memory/a/memory.limit_in_bytes=1" }, 65537, NULL },
  };

  check_rows (rows);
}

/* Unknown never refuses, and nothing crashes. */
static void
test_garbage (void)
{
  const Row rows[] = {
    { NULL, { NULL }, G_MAXUINT64, NULL },
    { "", { "memory.max=1" }, 65537, NULL },
    { "\n\n\n", { "memory.max=1" }, 65537, NULL },
    { "0", { "memory.max=1" }, 65537, NULL },
    { "0:", { "memory.max=1" }, 65537, NULL },
    { "0::", { "memory.max=1" }, 65537, NULL },
    { "0::relative", { "relative/memory.max=1", "memory.max=1" }, 65537, NULL },
    { ":::::::", { "memory.max=1" }, 65537, NULL },
    { "\xff\xfe:\x01:/\xff", { "memory.max=1" }, 65537, NULL },
    { "0::/a", { "a/memory.max=lots" }, G_MAXUINT64, NULL },
    { "0::/a", { "a/memory.max=" }, G_MAXUINT64, NULL },
    { "0::/a", { "a/memory.max=-1" }, G_MAXUINT64, NULL },
    { "0::/a", { "a/memory.max=4611686018427387904" }, G_MAXUINT64, NULL },
    { "0::/a", { "a/memory.max/is-a-folder=1" }, G_MAXUINT64, NULL },
    /* Without one of the three numbers, nothing is taken as used. */
    { "0::/a", { "a/memory.max=" KIB_64, "a/memory.current=65536" }, 65536, NULL },
    { "0::/a", { "a/memory.max=" KIB_64, "a/memory.current=65536", "a/memory.stat=active_file 0" }, 65536, NULL },
    { "0::/a",
      { "a/memory.max=" KIB_64, "a/memory.current=x", "a/memory.stat=active_file 0\ninactive_file 0" },
      65536,
      NULL },
    /* More cache than use, and more use than limit. */
    { "0::/a",
      { "a/memory.max=" KIB_64, "a/memory.current=1", "a/memory.stat=active_file 9\ninactive_file 9" },
      65536,
      NULL },
    { "0::/a",
      { "a/memory.max=" KIB_64, "a/memory.current=99999", "a/memory.stat=active_file 0\ninactive_file 0" },
      1,
      "has 0 left" },
    /* Outside our namespace, or made to look so. */
    { "0::/../x\n", { "memory.max=" KIB_64, "../x/memory.max=1" }, 65536, NULL },
    { "0::/..\n", { "memory.max=" KIB_64, "../memory.max=1" }, 65536, NULL },
    { "0::/../x\n", { "memory.max=" KIB_64 }, 65537, "cgroup / allows" },
    { "0::////a////b//\n", { "a/b/memory.max=1" }, 2, "allows 1" },
  };

  check_rows (rows);
}

static void
test_long_path (void)
{
  g_autoptr (GString) membership = g_string_new ("0::");
  Row row = { .files = { "memory.max=" KIB_64 }, .need = 65537, .text = "cgroup / allows" };

  for (guint i = 0; i < 3000; i++)
    g_string_append (membership, "/xy");
  row.membership = membership->str;
  check_row (&row);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/limits-cgroup/v2", test_v2);
  arena_test_add ("/arena/limits-cgroup/v2-ancestors", test_v2_ancestors);
  arena_test_add ("/arena/limits-cgroup/v1", test_v1);
  arena_test_add ("/arena/limits-cgroup/garbage-never-refuses", test_garbage);
  arena_test_add ("/arena/limits-cgroup/long-path", test_long_path);
  return g_test_run ();
}
