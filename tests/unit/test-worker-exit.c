/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include "boundary/arena-worker-private.h"

/* The list of what this process ends when it exits; that it does is tests/process/exit-ends-workers.c. */

static ArenaWorker *worker; /* never initialised: nothing to end */

static void
test_twice (void)
{
  ArenaWorkerEntry first = { 0 }, second = { 0 };

  arena_worker_entry_remove (&first);
  arena_worker_entry_add (&first, worker);
  arena_worker_entry_add (&second, worker);
  g_assert_true (first.workers == second.workers);
  g_assert_true (first.link.next == &second.link);
  arena_worker_entry_remove (&first);
  g_assert_null (first.workers);
  g_assert_null (second.link.prev);
  arena_worker_entry_remove (&first);
  arena_worker_entry_remove (&second);
  g_assert_null (second.workers);
}

static int
add_in_child (gpointer data)
{
  ArenaWorkerEntry *parents = data;
  ArenaWorkerEntry own = { 0 };

  arena_worker_entry_add (&own, worker);
  g_assert_true (own.workers != parents->workers);
  g_assert_null (own.link.prev);
  arena_worker_entry_remove (&own);

  /* As dropping it in the child does. */
  arena_worker_entry_remove (parents);
  g_assert_null (parents->workers);
  return 0;
}

static void
test_in_a_child (void)
{
  ArenaWorkerEntry entry = { 0 };

  arena_worker_entry_add (&entry, worker);
  arena_test_assert_child (add_in_child, &entry);
  arena_worker_entry_remove (&entry);
}

static gpointer
add_and_remove (gpointer data G_GNUC_UNUSED)
{
  for (guint i = 0; i < 1000; i++)
    {
      ArenaWorkerEntry entry = { 0 };

      arena_worker_entry_add (&entry, worker);
      arena_worker_entry_remove (&entry);
    }
  return NULL;
}

static void
test_two_threads (void)
{
  ArenaWorkerEntry entry = { 0 };
  GThread *thread = g_thread_new ("other", add_and_remove, NULL);

  add_and_remove (NULL);
  g_thread_join (thread);
  arena_worker_entry_add (&entry, worker);
  g_assert_null (entry.link.prev);
  g_assert_null (entry.link.next);
  arena_worker_entry_remove (&entry);
}

int
main (int    argc,
      char **argv)
{
  int status;

  arena_test_init (&argc, &argv);
  worker = g_object_new (ARENA_TYPE_WORKER, NULL);
  arena_test_add ("/arena/worker-exit/twice", test_twice);
  arena_test_add ("/arena/worker-exit/in-a-child", test_in_a_child);
  arena_test_add ("/arena/worker-exit/two-threads", test_two_threads);
  status = g_test_run ();
  g_object_unref (worker);
  return status;
}
