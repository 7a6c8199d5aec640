/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

/* 2000 units by one asynchronous call after the other, each unit's bytes checked: a pool and a ring, alone and two
 * consumers in one context. */

#define N_UNITS 2000
#define SIZE    8192

typedef struct
{
  ArenaConsumer *consumer;
  GThread       *producer;
  ArenaTestCall  ended;
  guint          n_units;
} Reading;

static void
on_unit (GObject      *object,
         GAsyncResult *result,
         gpointer      data)
{
  Reading *self = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = arena_consumer_next_finish (ARENA_CONSUMER (object), result, &error);

  g_assert_no_error (error);
  if (unit == NULL)
    {
      arena_test_call_done (object, result, &self->ended);
      return;
    }

  g_assert_cmpuint (arena_unit_get_sequence (unit), ==, self->n_units++);
  arena_test_assert_unit (unit, SIZE);
  arena_consumer_next_async (self->consumer, -1, NULL, on_unit, self);
}

static void
start (Reading         *self,
       ArenaBackend    *backend,
       ArenaTestSeries *series)
{
  *self = (Reading) { .consumer = arena_test_consumer_new (backend, 2) };
  self->producer = arena_test_start_producer (self->consumer, arena_test_send_series, series);
  arena_consumer_next_async (self->consumer, -1, NULL, on_unit, self);
}

static void
finish (Reading *self,
        guint    n_units)
{
  /* However long all of them take. */
  while (self->ended.result == NULL)
    g_main_context_iteration (NULL, TRUE);
  arena_test_call_clear (&self->ended);
  g_assert_cmpuint (self->n_units, ==, n_units);
  arena_test_close (self->consumer, self->producer);
}

static void
test_pool (void)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = SIZE };
  Reading reading;

  start (&reading, arena_test_pool_new (SIZE, 4), &series);
  finish (&reading, N_UNITS);
}

static void
test_ring (void)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = SIZE };
  Reading reading;

  start (&reading, arena_test_ring_new (SIZE * 3 + 4096), &series);
  finish (&reading, N_UNITS);
}

static void
test_two (void)
{
  ArenaTestSeries series[] = { { .n_units = 300, .size = SIZE }, { .n_units = 200, .size = SIZE } };
  Reading readings[2];

  start (&readings[0], arena_test_pool_new (SIZE, 4), &series[0]);
  start (&readings[1], arena_test_ring_new (SIZE * 4), &series[1]);
  for (guint i = 0; i < 2; i++)
    finish (&readings[i], series[i].n_units);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/async/units/pool", test_pool);
  arena_test_add ("/arena/async/units/ring", test_ring);
  arena_test_add ("/arena/async/units/two-in-one-context", test_two);
  return g_test_run ();
}
