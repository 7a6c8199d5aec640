/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include "base/arena-error.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

/* What can't be pinned is refused with numbers before CUDA is asked. */

/* Puts @content in place of @path for this process alone; FALSE where a user may not do that. */
static gboolean
replace_file (const char *folder,
              const char *path,
              const char *content)
{
  g_autofree char *map = g_strdup_printf ("0 %u 1", getuid ());
  g_autofree char *source = g_build_filename (folder, "replacement", NULL);

  g_assert_true (g_file_set_contents_full (source, content, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  if (unshare (CLONE_NEWNS) != 0)
    {
      if (unshare (CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return FALSE;
      g_assert_true (g_file_set_contents_full ("/proc/self/uid_map", map, -1, G_FILE_SET_CONTENTS_NONE, 0, NULL));
    }

  return mount ("none", "/", "none", MS_REC | MS_PRIVATE, "") == 0 && mount (source, path, "none", MS_BIND, "") == 0;
}

/* The pool is there; then the machine turns out to be too small for keeping it in memory. */
static void
test_host (void)
{
  ArenaBackend *pool = scenario_pool_new (8, NULL, 0);
  char *folder = arena_test_temp_dir_new ();
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  if (replace_file (folder, "/proc/meminfo", "MemTotal: 16 kB\nMemAvailable: 100000000 kB\nSwapFree: 100000000 kB\n"))
    {
      g_assert_false (scenario_open (&ends, pool, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "needs 32768 bytes", "MemTotal",
                               "allows 16384 (limit)", "ask for less");
      g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 0);
      umount2 ("/proc/meminfo", MNT_DETACH);
      arena_ends_clear (&ends);
    }
  else
    g_object_unref (pool);
  arena_test_temp_dir_free (folder);
}

static void
test_cgroup (void)
{
  ArenaBackend *pool = scenario_pool_new (8, NULL, 0);
  char *folder = arena_test_temp_dir_new ();
  g_autofree char *group = g_build_filename (folder, "memory.max", NULL);
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  g_assert_true (g_file_set_contents (group, "16384\n", -1, NULL));
  if (replace_file (folder, "/proc/self/cgroup", "0::/\n") && mount (folder, "/sys/fs/cgroup", "none", MS_BIND, "") == 0)
    {
      g_assert_false (scenario_open (&ends, pool, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "needs 32768 bytes",
                               "cgroup / allows 16384 (limit)", "ask for less");
      g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 0);
      umount2 ("/sys/fs/cgroup", MNT_DETACH);
      arena_ends_clear (&ends);
    }
  else
    g_object_unref (pool);
  arena_test_temp_dir_free (folder);
}

/* A unit of a pinned ring for whose copy there is no room is refused as well, and is there when there is. */
static void
test_ring (void)
{
  ArenaBackend *ring = g_initable_new (ARENA_TYPE_RING, NULL, NULL, "capacity", (guint64) 65536, "pin-memory", TRUE, NULL);
  char *folder = arena_test_temp_dir_new ();
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;
  ArenaSent sent;

  g_assert_true (scenario_open (&ends, ring, &error));
  sent = arena_ends_send (&ends, 20000, 1);
  if (replace_file (folder, "/proc/meminfo", "MemTotal: 16 kB\n"))
    {
      g_assert_null (arena_reader_read (ends.reader, sent.span, sent.offset, sent.size, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "32768 bytes of pinned memory", "MemTotal",
                               "allows 16384 (limit)", "ask for less");
      g_assert_cmpuint (scenario_count ("cudaHostAlloc"), ==, 0);
      umount2 ("/proc/meminfo", MNT_DETACH);
    }
  arena_ends_pass (&ends, &sent);
  g_assert_cmpuint (scenario_count ("cudaHostAlloc"), ==, 1);
  scenario_close (&ends);
  arena_test_temp_dir_free (folder);
}

/* An arena's files are reserved when it is made, so a full memory file system can't be met later (F52). */
static void
test_reserved (void)
{
  g_autoptr(ArenaBackend) pool = NULL;
  g_autoptr(GError) error = NULL;

  pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", G_GUINT64_CONSTANT (1) << 40, "count", 60,
                         "pin-memory", TRUE, NULL);
  g_assert_null (pool);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs ");
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/scenario-21-host-memory", test_host);
  scenario_add ("/arena/cuda/scenario-21-cgroup-limit", test_cgroup);
  scenario_add ("/arena/cuda/scenario-21-ring", test_ring);
  scenario_add ("/arena/cuda/scenario-21-reserved-when-made", test_reserved);
  return g_test_run ();
}
