/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "backend/arena-stats-private.h"

/* F19, F162: statistics may be taken at any time by any thread: before the ends open, under load, and after the close;
 * they never go back or beyond what there is. */

static ArenaBackend *backend;
static _Atomic gboolean done;

static gpointer
watch (gpointer data)
{
  guint64 units = 0;

  while (!atomic_load (&done))
    {
      g_autoptr (ArenaStats) stats = arena_pool_dup_stats (ARENA_POOL (backend));

      g_assert_cmpuint (arena_stats_get_units (stats), >=, units);
      g_assert_cmpuint (arena_stats_get_occupancy (stats), <=, 3 * 4096);
      g_assert_cmpuint (arena_stats_get_peak_occupancy (stats), >=, arena_stats_get_occupancy (stats));
      g_assert_cmpuint (arena_stats_get_held_units (stats), <=, 3);
      units = arena_stats_get_units (stats);
    }

  return NULL;
}

static void
test (void)
{
  ArenaEnds ends = { 0 };
  GThread *thread;

  backend = ARENA_BACKEND (arena_pool_new (4096, 3, NULL));
  thread = g_thread_new ("watch", watch, NULL);
  g_usleep (1000);
  ends.backend = g_object_ref (backend);
  ends.reader = arena_backend_open_reader (backend, NULL);
  ends.writer = arena_backend_open_writer (backend, NULL);
  for (guint i = 0; i < 2000; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 100, i);

      arena_ends_pass (&ends, &sent);
    }
  g_assert_true (arena_backend_close (backend, NULL));
  g_usleep (1000);
  atomic_store (&done, TRUE);
  g_thread_join (thread);
  arena_ends_clear (&ends);
  g_clear_object (&backend);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/stats/from-any-thread", test);
  return g_test_run ();
}
