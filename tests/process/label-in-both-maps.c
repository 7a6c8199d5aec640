/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <string.h>
#include <unistd.h>

/* Whoever looks for what takes the memory finds the arena's label in the maps of the worker too. */

static gboolean
is_in_maps (gint64 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/maps", pid);
  g_autofree char *maps = NULL;

  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  return strstr (maps, "/memfd:arena-pictures_1 (deleted)\n") != NULL;
}

static void
run (ArenaBackend *backend)
{
  ArenaWorker *worker = arena_test_worker_new (backend, 2, "units=3", "size=20000", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);

  arena_test_receive (consumer, 3, 20000);
  g_assert_true (is_in_maps (getpid ()));
  g_assert_true (is_in_maps (arena_worker_get_pid (worker)));
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (g_initable_new (ARENA_TYPE_POOL, NULL, NULL, "segment-size", (guint64) 20000, "count", 4, "label", "pictures 1",
                       NULL));
}

static void
test_ring (void)
{
  run (g_initable_new (ARENA_TYPE_RING, NULL, NULL, "capacity", (guint64) 80000, "label", "pictures 1", NULL));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/label-in-both-maps/pool", test_pool);
  arena_test_add ("/arena/worker/label-in-both-maps/ring", test_ring);
  return g_test_run ();
}
