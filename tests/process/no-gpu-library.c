/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <string.h>
#include <unistd.h>

/* F14, F22: neither process maps a library of any GPU; a pool's views are the shared memory and a ring's outputs the
 * receiver's own, both of them ordinary pages. */

static char *
read_maps (gint64 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/maps", pid);
  char *maps = NULL;

  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  return maps;
}

static void
assert_no_gpu (gint64 pid)
{
  static const char *const names[] = { "libcuda", "libcudart", "libnvidia", "libamdhip", "libOpenCL", "/dev/nvidia" };
  g_autofree char *maps = read_maps (pid);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_null (strstr (maps, names[i]));
}

/* Whether @data lies in an arena's memory. */
static gboolean
is_shared (gconstpointer data)
{
  g_autofree char *maps = read_maps (getpid ());
  g_auto(GStrv) lines = g_strsplit (maps, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *end;
      guint64 start = g_ascii_strtoull (lines[i], &end, 16);

      if (strstr (lines[i], "/memfd:arena") != NULL && (guintptr) data >= start &&
          (guintptr) data < g_ascii_strtoull (end + 1, NULL, 16))
        return TRUE;
    }

  return FALSE;
}

static void
run (ArenaBackend *backend,
     gboolean      shared)
{
  ArenaWorker *worker = arena_test_worker_new (backend, 2, "units=3", "size=20000", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
      g_autoptr(GBytes) bytes = arena_test_dup_bytes (unit);

      g_assert_cmpint (is_shared (g_bytes_get_data (bytes, NULL)), ==, shared);
    }
  assert_no_gpu (getpid ());
  assert_no_gpu (arena_worker_get_pid (worker));
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 4), TRUE);
}

static void
test_ring (void)
{
  run (arena_test_ring_new (80000), FALSE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/no-gpu-library/pool", test_pool);
  arena_test_add ("/arena/worker/no-gpu-library/ring", test_ring);
  return g_test_run ();
}
