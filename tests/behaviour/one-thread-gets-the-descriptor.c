/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <stdatomic.h>
#include <unistd.h>

/* The worker's descriptor has one owner, however many threads ask for it at once. */

#define N_ROUNDS 300

typedef struct
{
  ArenaConsumer *consumer;
  atomic_uint    n_ready;
} Race;

static gpointer
take (gpointer data)
{
  Race *race = data;

  /* Spinning: who is woken comes too late. */
  atomic_fetch_add (&race->n_ready, 1);
  while (atomic_load (&race->n_ready) < 2)
    ;
  return GINT_TO_POINTER (arena_consumer_dup_worker_fd (race->consumer, NULL));
}

static void
test_race (void)
{
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      Race race = { .consumer = arena_test_consumer_new (arena_test_pool_new (4096, 1), 1) };
      GThread *thread;
      int fds[2];

      thread = g_thread_new ("take", take, &race);
      fds[0] = GPOINTER_TO_INT (take (&race));
      fds[1] = GPOINTER_TO_INT (g_thread_join (thread));
      g_assert_true ((fds[0] < 0) != (fds[1] < 0));
      g_assert_no_errno (close (MAX (fds[0], fds[1])));
      g_assert_finalize_object (race.consumer);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/one-thread-gets-the-descriptor", test_race);
  return g_test_run ();
}
