/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>
#include <string.h>

/* F79, C10: a worker gets what it needs to attach, does so once for all its iterations, and owns nothing: when it
 * leaves or dies, the memory and what was sent in it stay. */

#define SIZE 20000

static guint
count_maps (gint64 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/maps", pid);
  g_autofree char *maps = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  for (const char *at = maps; (at = strstr (at, "/memfd:arena-pool")) != NULL; at++)
    n++;
  return n;
}

static void
test (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (SIZE, 4), 2, "units=2", "size=20000", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  g_autoptr(ArenaUnit) kept = NULL;
  g_autoptr(GError) error = NULL;

  for (guint epoch = 0; epoch < 3; epoch++)
    {
      g_assert_true (arena_consumer_start (consumer, NULL));
      arena_test_receive (consumer, 2, SIZE);
      arena_test_assert_end (consumer);
      g_assert_cmpuint (count_maps (arena_worker_get_pid (worker)), ==, 1);
    }

  g_assert_true (arena_consumer_start (consumer, NULL));
  kept = arena_test_next (consumer);
  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGKILL));
  while (error == NULL)
    {
      g_autoptr(ArenaUnit) unit = arena_consumer_next (consumer, -1, NULL, &error);

      if (unit == NULL && error == NULL)
        arena_consumer_start (consumer, &error);
    }
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "signal 9");
  arena_test_assert_unit (kept, SIZE);
  arena_test_close (consumer, NULL);
  arena_test_assert_unit (kept, SIZE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/attaching-owns-nothing", test);
  return g_test_run ();
}
