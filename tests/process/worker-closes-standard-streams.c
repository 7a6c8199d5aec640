/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <unistd.h>

/* Descriptors 0 to 2 are as good as any: with the streams closed, either side's own files land there. */
static void
serve (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (20000, 4), 2, "units=6", "size=20000", "at=start",
                                               "do=close-streams", NULL);

  for (guint epoch = 0; epoch < 2; epoch++)
    {
      g_assert_true (arena_consumer_start (ARENA_CONSUMER (worker), NULL));
      arena_test_receive (ARENA_CONSUMER (worker), 6, 20000);
      arena_test_assert_end (ARENA_CONSUMER (worker));
    }

  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

static int
serve_without_streams (gpointer data)
{
  close (STDIN_FILENO);
  close (STDOUT_FILENO);
  close (STDERR_FILENO);
  serve ();
  return 0;
}

static void
test_consumer_too (void)
{
  arena_test_assert_child (serve_without_streams, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/closes-standard-streams", serve);
  arena_test_add ("/arena/worker/closes-standard-streams/consumer-too", test_consumer_too);
  return g_test_run ();
}
