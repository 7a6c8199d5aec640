/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "memory/arena-fork-private.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static gpointer
get_generation (gpointer data)
{
  return GUINT_TO_POINTER (arena_fork_generation ());
}

/* First to use the word in this process: all threads race to make it. */
static void
test_threads_agree (void)
{
  GThread *threads[8];
  guint generation;

  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("generation", get_generation, NULL);

  generation = arena_fork_generation ();
  g_assert_cmpuint (generation, >, 0);
  g_assert_true (arena_fork_is_current (generation));
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (threads[i])), ==, generation);
}

static int
child_is_foreign (gpointer data)
{
  guint inherited = GPOINTER_TO_UINT (data);

  /* Before and after the child has a generation of its own. */
  g_assert_false (arena_fork_is_current (inherited));
  g_assert_cmpuint (arena_fork_generation (), !=, inherited);
  g_assert_true (arena_fork_is_current (arena_fork_generation ()));
  g_assert_false (arena_fork_is_current (inherited));
  return 0;
}

static void
test_child_is_foreign (void)
{
  guint generation = arena_fork_generation ();

  arena_test_assert_child (child_is_foreign, GUINT_TO_POINTER (generation));
  g_assert_true (arena_fork_is_current (generation));
  g_assert_cmpuint (arena_fork_generation (), ==, generation);
}

/* Each generation inherits the numbers of all its ancestors and is none of them. */
static int
descend (gpointer data)
{
  GArray *ancestors = data;
  guint own;

  for (guint i = 0; i < ancestors->len; i++)
    g_assert_false (arena_fork_is_current (g_array_index (ancestors, guint, i)));

  own = arena_fork_generation ();
  for (guint i = 0; i < ancestors->len; i++)
    g_assert_cmpuint (own, !=, g_array_index (ancestors, guint, i));

  g_array_append_val (ancestors, own);
  if (ancestors->len < 5)
    arena_test_assert_child (descend, ancestors);
  g_assert_true (arena_fork_is_current (own));
  return 0;
}

static void
test_grandchildren (void)
{
  g_autoptr (GArray) ancestors = g_array_new (FALSE, FALSE, sizeof (guint));
  guint own = arena_fork_generation ();

  g_array_append_val (ancestors, own);
  arena_test_assert_child (descend, ancestors);
}

/* One that only passes the fork on: its own child is as foreign. */
static int
pass_on (gpointer data)
{
  arena_test_assert_child (child_is_foreign, data);
  return 0;
}

static void
test_grandchild_of_idle_child (void)
{
  arena_test_assert_child (pass_on, GUINT_TO_POINTER (arena_fork_generation ()));
}

static void
test_many_children (void)
{
  guint generation = arena_fork_generation ();
  pid_t pids[8];

  for (gsize i = 0; i < G_N_ELEMENTS (pids); i++)
    pids[i] = arena_test_start_child (child_is_foreign, GUINT_TO_POINTER (generation));
  for (gsize i = 0; i < G_N_ELEMENTS (pids); i++)
    g_assert_cmpint (arena_test_wait_child (pids[i]), ==, 0);
}

/* No atfork handler runs here: the kernel alone does it. */
static void
test_bare_clone (void)
{
  guint generation = arena_fork_generation ();
  pid_t pid = (pid_t) syscall (SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    _exit (arena_fork_is_current (generation) ? 1 : 0);

  g_assert_cmpint (arena_test_wait_child (pid), ==, 0);
}

static int
without_advice (gpointer data)
{
  arena_test_refuse_syscall (SYS_madvise, 2, G_MAXUINT32, MADV_WIPEONFORK, EINVAL);
  test_child_is_foreign ();
  test_grandchildren ();
  test_grandchild_of_idle_child ();
  return 0;
}

/* A kernel that doesn't know the advice: the word is wiped by an atfork handler. First in the program, because the
 * word is made once. */
static void
test_without_advice (void)
{
  g_assert_null (arena_fork_word);
  arena_test_assert_child (without_advice, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/fork/without-advice", test_without_advice);
  arena_test_add ("/arena/fork/threads-agree", test_threads_agree);
  arena_test_add ("/arena/fork/child-is-foreign", test_child_is_foreign);
  arena_test_add ("/arena/fork/grandchildren-are-foreign", test_grandchildren);
  arena_test_add ("/arena/fork/grandchild-of-idle-child", test_grandchild_of_idle_child);
  arena_test_add ("/arena/fork/many-children", test_many_children);
  arena_test_add ("/arena/fork/bare-clone", test_bare_clone);
  return g_test_run ();
}
