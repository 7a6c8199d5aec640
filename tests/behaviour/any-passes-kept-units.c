/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 2.4, any: a consumer that keeps single units has a smaller pool, not one that stops after a lap. */

#define SIZE     8192
#define SEGMENTS 4

static void
check (ArenaUnit **kept)
{
  for (guint i = 0; i < SEGMENTS - 1; i++)
    arena_test_assert_unit (kept[i], SIZE);
}

static void
test_passes (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_any_pool_new (SIZE, SEGMENTS), 2);
  ArenaTestSeries series = { .n_units = 60, .size = SIZE };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaUnit *kept[SEGMENTS - 1];

  for (guint i = 0; i < SEGMENTS - 1; i++)
    {
      arena_test_receive (consumer, 7, SIZE);
      kept[i] = arena_test_next (consumer);
    }
  arena_test_receive (consumer, 60 - 8 * (SEGMENTS - 1), SIZE);
  arena_test_assert_end (consumer);
  check (kept);

  /* Sequences go on over iterations, and so does what is kept. */
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_receive (consumer, 20, SIZE);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_receive (consumer, 60, SIZE);
  check (kept);
  for (guint i = 0; i < SEGMENTS - 1; i++)
    g_object_unref (kept[i]);
  arena_test_close (consumer, producer);
}

/* With the last one it starves its producer, and any of them will do. */
static void
test_starves (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_any_pool_new (SIZE, SEGMENTS), 2);
  ArenaTestSeries series = { .n_units = 20, .size = SIZE };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  g_autoptr(GError) error = NULL;
  ArenaUnit *kept[SEGMENTS];

  arena_consumer_set_starve_timeout (consumer, 0);
  for (guint i = 0; i < SEGMENTS; i++)
    kept[i] = arena_test_next (consumer);
  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "are held here; release units sooner");

  g_clear_object (&kept[2]);
  arena_test_receive (consumer, 20 - SEGMENTS, SIZE);
  arena_test_assert_end (consumer);
  for (guint i = 0; i < SEGMENTS; i++)
    g_clear_object (&kept[i]);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/any/passes-kept-units", test_passes);
  arena_test_add ("/arena/boundary/any/starves-with-the-last", test_starves);
  return g_test_run ();
}
