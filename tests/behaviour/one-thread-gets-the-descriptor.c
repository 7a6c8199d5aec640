/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <pthread.h>
#include <unistd.h>

/* The worker's descriptor has one owner, however many threads ask for it at once. */

#define N_ROUNDS 500

typedef struct
{
  ArenaConsumer     *consumer;
  pthread_barrier_t  start;
} Race;

static gpointer
take (gpointer data)
{
  Race *race = data;

  pthread_barrier_wait (&race->start);
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

      g_assert_cmpint (pthread_barrier_init (&race.start, NULL, 2), ==, 0);
      thread = g_thread_new ("take", take, &race);
      fds[0] = GPOINTER_TO_INT (take (&race));
      fds[1] = GPOINTER_TO_INT (g_thread_join (thread));
      g_assert_true ((fds[0] < 0) != (fds[1] < 0));
      g_assert_no_errno (close (MAX (fds[0], fds[1])));
      pthread_barrier_destroy (&race.start);
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
