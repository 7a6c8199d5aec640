/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F132, F144, C74: a failing item ends its iteration with all that is known of it, and the boundary goes on. */
static void
test_fails (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 2, "units=6", "at=item:4", "do=fail", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  g_autoptr(ArenaRemoteError) remote = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_dup_remote_error (consumer));
  arena_test_receive (consumer, 4, 4096);
  g_assert_null (arena_consumer_next (consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE, "item 4", "test.Failure", "the item is bad");

  remote = arena_consumer_dup_remote_error (consumer);
  g_assert_cmpstr (arena_remote_error_get_type_name (remote), ==, "test.Failure");
  g_assert_cmpstr (arena_remote_error_get_message (remote), ==, "the item is bad");
  g_assert_cmpstr (arena_remote_error_get_traceback (remote), ==, "in line 1\nin line 2");
  g_assert_cmpint (arena_remote_error_get_item (remote), ==, 4);

  /* It was the end of the iteration. */
  arena_test_assert_end (consumer);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_receive (consumer, 6, 4096);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, NULL);
}

/* What a stopped iteration fails with is nobody's business any more. */
static void
test_fails_after_a_stop (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 2, "units=6", "at=item:1", "do=fail", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);

  arena_test_receive (consumer, 1, 4096);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_receive (consumer, 6, 4096);
  arena_test_assert_end (consumer);
  g_assert_null (arena_consumer_dup_remote_error (consumer));
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/fails-at-item", test_fails);
  arena_test_add ("/arena/worker/fails-at-item/after-a-stop", test_fails_after_a_stop);
  return g_test_run ();
}
