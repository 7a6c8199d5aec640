/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

/* Pools opened, closed and dropped on many threads, while CUDA refuses now and then. */

#define N_THREADS 4
#define N_POOLS   25

/* Every other pool is dropped without a close, some with a view that dies later; whoever opens next cleans up after them. */
static gpointer
use_pools (gpointer data)
{
  guint number = GPOINTER_TO_UINT (data);
  GBytes *kept = NULL;

  for (guint i = 0; i < N_POOLS; i++)
    {
      ArenaEnds ends;
      ArenaSent sent;
      GBytes *view;

      scenario_open_pool (&ends, 2);
      sent = arena_ends_send (&ends, SCENARIO_PAGE, number * N_POOLS + i);
      view = arena_ends_take (&ends, &sent);
      g_clear_pointer (&kept, g_bytes_unref);
      if (i % 3 == 0)
        kept = view;
      else
        g_bytes_unref (view);
      if (i % 2 == 0)
        arena_backend_close (ends.backend, NULL);
      arena_ends_clear (&ends);
    }

  g_clear_pointer (&kept, g_bytes_unref);
  return NULL;
}

/* ThreadSanitizer doesn't see what orders the first use of a type. */
static void
use_types (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 1);
  scenario_close (&ends);
  arena_fake_log_clear ();
}

static void
test_threads (void)
{
  ArenaCudaContext *context = arena_cuda_context_get_default (NULL);
  GThread *threads[N_THREADS];
  g_autoptr(GError) error = NULL;

  use_types ();
  for (int i = 0; i < 20; i++)
    arena_fake_inject ("cudaHostUnregister", 10 * i + 1, 3, CUDA_INVALID_VALUE, false);
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("pools", use_pools, GUINT_TO_POINTER (i));
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);

  for (guint i = 0; i < 100 && !arena_cuda_context_retry_quarantine (context, &error); i++)
    g_clear_error (&error);
  g_assert_no_error (error);
  g_assert_cmpuint (arena_cuda_context_get_n_quarantined (context), ==, 0);
  g_assert_cmpuint (arena_cuda_context_get_pinned_bytes (context), ==, 0);
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 2 * N_THREADS * N_POOLS);
}

static gpointer
close_again_and_again (gpointer data)
{
  ArenaEnds *ends = data;

  for (guint i = 0; i < 50; i++)
    arena_backend_close (ends->backend, NULL);
  return NULL;
}

/* Two threads close one pool: each segment is unregistered once. */
static void
test_close_twice (void)
{
  GThread *threads[2];
  ArenaEnds ends;

  scenario_open_pool (&ends, 8);
  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("closer", close_again_and_again, &ends);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 8);
  arena_ends_clear (&ends);
}

static gpointer
open_slowly (gpointer data)
{
  ArenaEnds *ends = data;

  ends->reader = arena_backend_open_reader (ends->backend, NULL);
  return NULL;
}

/* However an opening and a close meet, nothing stays pinned that nobody can use. */
static void
test_close_while_opening (void)
{
  use_types ();
  for (guint i = 0; i < 50; i++)
    {
      ArenaEnds ends = { .backend = scenario_pool_new (4, NULL, 0) };
      GThread *opener = g_thread_new ("opener", open_slowly, &ends);

      arena_backend_close (ends.backend, NULL);
      g_thread_join (opener);
      g_assert_true (arena_backend_close (ends.backend, NULL));
      scenario_assert_pinned (0, 0);
      arena_ends_clear (&ends);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/threads-open-and-drop", test_threads);
  scenario_add ("/arena/cuda/threads-close-one-pool", test_close_twice);
  scenario_add ("/arena/cuda/threads-close-while-opening", test_close_while_opening);
  return g_test_run ();
}
