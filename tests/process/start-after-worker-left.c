/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 5.3: a worker that left in stand-by is missed when it is needed again, and not before. */

static gboolean
has_left (gpointer data)
{
  return !arena_test_process_exists (arena_worker_get_pid (data));
}

static void
test_left_in_stand_by (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 3), 1, "units=3", "at=stand-by", "do=exit:0", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  g_autoptr(GError) error = NULL;

  arena_test_receive (consumer, 3, 4096);
  arena_test_assert_end (consumer);
  g_assert_true (arena_test_wait_until (has_left, worker, 5000));
  arena_test_assert_end (consumer);
  g_assert_true (arena_consumer_stop (consumer, -1, NULL, NULL));

  g_assert_false (arena_consumer_start (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "code 0");
  g_assert_cmpint (arena_worker_get_exit_status (worker), ==, 0);
  arena_test_close (consumer, NULL);
}

/* A single iteration needs no start, and its worker may be gone by the time its units are read. */
static void
test_left_after_its_last_unit (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 5), 5, "units=4", "at=stand-by", "do=exit:0", NULL);

  arena_test_receive (ARENA_CONSUMER (worker), 1, 4096);
  g_assert_true (arena_test_wait_until (has_left, worker, 5000));
  arena_test_receive (ARENA_CONSUMER (worker), 3, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/left/in-stand-by", test_left_in_stand_by);
  arena_test_add ("/arena/worker/left/after-its-last-unit", test_left_after_its_last_unit);
  return g_test_run ();
}
