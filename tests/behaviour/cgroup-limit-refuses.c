/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include "memory/arena-limits-private.h"

/* C05: shared memory counts against the cgroup, though no display shows it. A pool beyond what the cgroup allows is
 * refused by the constructor, which names the cgroup and both numbers; what there is shows in the statistics. */

#define MIB (G_GUINT64_CONSTANT (1) << 20)

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
test_roots (void)
{
  char *folder = arena_test_temp_dir_new ();
  const ArenaLimitsRoots roots = { .proc = folder, .cgroup = folder };
  g_autoptr(GError) error = NULL;

  write_file (folder, "self/cgroup", "0::/box\n");
  write_file (folder, "box/memory.max", "67108864\n");
  g_assert_true (arena_limits_check (64 * MIB, &roots, &error));
  g_assert_no_error (error);
  g_assert_false (arena_limits_check (128 * MIB, &roots, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 134217728 bytes",
                           "cgroup /box allows 67108864");
  arena_test_temp_dir_free (folder);
}

/* As in a container whose own cgroup is the root of what it sees, in version 2 or 1. */
static int
construct (gpointer data)
{
  g_autoptr(ArenaStats) stats = NULL;
  g_autoptr(ArenaPool) pool = NULL;
  g_autoptr(GError) error = NULL;

  if (!arena_test_cover_folder ("/sys/fs/cgroup", "size=1m"))
    {
      g_printerr ("no mounts of one's own here\n");
      return 0;
    }

  write_file ("/sys/fs/cgroup", "memory.max", "67108864\n");
  write_file ("/sys/fs/cgroup", "memory/memory.limit_in_bytes", "67108864\n");
  g_assert_null (arena_pool_new (16 * MIB, 8, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 134217728 bytes",
                           "cgroup / allows 67108864");
  pool = arena_pool_new (4 * MIB, 8, &error);
  g_assert_no_error (error);
  stats = arena_pool_dup_stats (pool);
  g_assert_cmpuint (arena_stats_get_reserved_bytes (stats), ==, 32 * MIB);
  return 0;
}

static void
test_constructor (void)
{
  arena_test_assert_child (construct, NULL);
}

static void
test_resident (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (MIB, 4), 4);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaStats) stats = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 4; i++)
    g_assert_true (arena_test_send (producer, MIB, 0, NULL));
  arena_test_receive (consumer, 4, MIB);
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_resident_bytes (stats), ==, 4 * MIB);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/cgroup/roots", test_roots);
  arena_test_add ("/arena/boundary/cgroup/constructor", test_constructor);
  arena_test_add ("/arena/boundary/cgroup/resident", test_resident);
  return g_test_run ();
}
