/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-fork-private.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

/* The word goes 0 -> generation once per process: by the first caller, or anew in a child, where the kernel has wiped
 * the page. The counter is never wiped, so a child starts above every number its ancestors took before the fork; what
 * they take later they take only for themselves.
 *
 * No lock and no g_once: another thread may hold either at the moment of the fork, and the child would wait for ever.
 */

_Atomic guint *arena_fork_word;
static _Atomic guint last_generation;

static void
wipe_in_child (void)
{
  atomic_store_explicit (arena_fork_word, 0, memory_order_relaxed);
}

static _Atomic guint *
map_word (void)
{
  void *page = mmap (NULL, sizeof (_Atomic guint), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (page == MAP_FAILED)
    g_error ("mmap: fork word: %s", g_strerror (errno));

  return page;
}

/* Returns the word that all threads agree on: the loser of a race gives its page back. */
static _Atomic guint *
get_word (void)
{
  _Atomic guint *word = __atomic_load_n (&arena_fork_word, __ATOMIC_ACQUIRE);
  _Atomic guint *ours;
  gboolean wiped_by_kernel;

  if (word != NULL)
    return word;

  ours = map_word ();
  wiped_by_kernel = madvise (ours, sizeof *ours, MADV_WIPEONFORK) == 0;
  if (!__atomic_compare_exchange_n (&arena_fork_word, &word, ours, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    {
      munmap (ours, sizeof *ours);
      return word;
    }

  /* Emulated kernels may not know the advice. A handler misses a bare clone(), nothing else. */
  if (!wiped_by_kernel)
    pthread_atfork (NULL, NULL, wipe_in_child);

  return ours;
}

guint
arena_fork_generation (void)
{
  _Atomic guint *word = get_word ();
  guint current = atomic_load_explicit (word, memory_order_relaxed);
  guint fresh;

  if (current != 0)
    return current;

  fresh = atomic_fetch_add_explicit (&last_generation, 1, memory_order_relaxed) + 1;
  return atomic_compare_exchange_strong_explicit (word, &current, fresh, memory_order_relaxed, memory_order_relaxed)
         ? fresh
         : current;
}
