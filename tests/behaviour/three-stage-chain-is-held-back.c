/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* C61: a chain that together holds more than the pool has is held back, and no unit is ever overwritten. */

#define HOLD  3
#define UNITS 200
#define SIZE  8192

/* From stage to stage; one slot each, so that nothing is needed but an atomic store. */
static _Atomic (ArenaUnit *) handed[UNITS];

/* The second stage: a thread that keeps the last HOLD units it was handed. */
static gpointer
second_stage (gpointer data)
{
  ArenaUnit *held[HOLD] = { NULL };

  for (guint i = 0; i < UNITS; i++)
    {
      g_clear_object (&held[i % HOLD]);
      while ((held[i % HOLD] = atomic_load (&handed[i])) == NULL)
        g_usleep (50);
      for (guint k = 0; k < MIN (i + 1, HOLD); k++)
        arena_test_assert_unit (held[k], SIZE);
    }
  for (guint k = 0; k < HOLD; k++)
    g_object_unref (held[k]);
  return NULL;
}

static void
test_chain (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 4), 2);
  ArenaTestSeries series = { .n_units = UNITS, .size = SIZE };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  GThread *second = g_thread_new ("second", second_stage, NULL);

  for (guint i = 0; i < UNITS; i++)
    atomic_store (&handed[i], arena_test_next (consumer));
  arena_test_assert_end (consumer);
  g_thread_join (second);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/boundary/three-stages", test_chain);
  return g_test_run ();
}
