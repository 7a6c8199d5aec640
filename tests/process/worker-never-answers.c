/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include "sync/arena-timing-private.h"

/* F139: slow is not dead. A worker that never attaches only times out, and is ended by the ladder. */
static void
test_never_answers (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "at=start", "do=wait", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  gint64 pid = arena_worker_get_pid (worker);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_null (arena_consumer_next (consumer, 50000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "the next unit");
  g_assert_false (arena_consumer_stop (consumer, 10000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_true (arena_consumer_start (consumer, NULL));

  arena_test_close (consumer, NULL);
  g_assert_false (arena_test_process_exists (pid));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.join = 50000;
  arena_test_add ("/arena/worker/never-answers", test_never_answers);
  return g_test_run ();
}
