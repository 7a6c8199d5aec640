/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "memory/arena-fork-mutex-private.h"

#define N_TURNS 20000

typedef struct
{
  ArenaForkMutex mutex;
  guint          count;
  pthread_mutex_t gate; /* held while the other thread is to stay inside */
} Case;

static gpointer
count (gpointer data)
{
  Case *c = data;

  for (guint i = 0; i < N_TURNS; i++)
    {
      g_assert_true (arena_fork_mutex_lock (&c->mutex));
      c->count++;
      arena_fork_mutex_unlock (&c->mutex);
    }
  return NULL;
}

static int
count_in_child (gpointer data)
{
  Case *c = data;
  GThread *thread = g_thread_new ("count", count, c);

  count (c);
  g_thread_join (thread);
  return c->count % (2 * N_TURNS) == 0 ? 0 : 1;
}

/* One at a time, in this process, in a child that inherits it free, and here again. */
static void
test_excludes (void)
{
  Case c = { 0 };

  arena_fork_mutex_init (&c.mutex);
  g_assert_cmpint (count_in_child (&c), ==, 0);
  arena_test_assert_child (count_in_child, &c);
  g_assert_cmpint (count_in_child (&c), ==, 0);
  arena_fork_mutex_clear (&c.mutex);
}

static gpointer
stay_inside (gpointer data)
{
  Case *c = data;

  g_assert_true (arena_fork_mutex_lock (&c->mutex));
  pthread_mutex_lock (&c->gate);
  pthread_mutex_unlock (&c->gate);
  arena_fork_mutex_unlock (&c->mutex);
  return NULL;
}

static gboolean
has_users (gpointer data)
{
  Case *c = data;

  return (atomic_load (&c->mutex.users) & G_MAXUINT32) == c->count;
}

static int
refuse_in_child (gpointer data)
{
  Case *c = data;

  for (guint i = 0; i < 3; i++)
    if (arena_fork_mutex_lock (&c->mutex))
      return 1;
  return 0;
}

/* Whoever had it, or waited for it, isn't in the child. */
static void
assert_refuses (guint n_threads)
{
  Case c = { .count = n_threads, .gate = PTHREAD_MUTEX_INITIALIZER };
  /* valgrind looks for them in the child, which has these registers no more. */
  static GThread *threads[2];

  arena_fork_mutex_init (&c.mutex);
  pthread_mutex_lock (&c.gate);
  for (guint i = 0; i < n_threads; i++)
    threads[i] = g_thread_new ("inside", stay_inside, &c);
  g_assert_true (arena_test_wait_until (has_users, &c, 5000));

  arena_test_assert_child (refuse_in_child, &c);
  pthread_mutex_unlock (&c.gate);
  for (guint i = 0; i < n_threads; i++)
    g_thread_join (threads[i]);

  g_assert_true (arena_fork_mutex_lock (&c.mutex));
  arena_fork_mutex_unlock (&c.mutex);
  arena_fork_mutex_clear (&c.mutex);
}

static void
test_held_at_fork (void)
{
  assert_refuses (1);
}

static void
test_awaited_at_fork (void)
{
  assert_refuses (2);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/fork-mutex/excludes", test_excludes);
  arena_test_add ("/arena/fork-mutex/held-at-fork", test_held_at_fork);
  arena_test_add ("/arena/fork-mutex/awaited-at-fork", test_awaited_at_fork);
  return g_test_run ();
}
