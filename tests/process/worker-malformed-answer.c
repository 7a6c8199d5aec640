/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include "sync/arena-timing-private.h"

/* Protocol 6: garbage is PROTOCOL at the first bad word, for good, and the process is ended all the same. */
static void
test_malformed_answer (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 2), 1, "at=start", "do=malformed-answer", NULL);
  gint64 pid = arena_worker_get_pid (worker);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), 10 * G_USEC_PER_SEC, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
    }

  g_assert_false (arena_consumer_start (ARENA_CONSUMER (worker), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
  g_assert_false (arena_test_process_exists (pid));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_timing.join = 50000;
  arena_test_add ("/arena/worker/malformed-answer", test_malformed_answer);
  return g_test_run ();
}
