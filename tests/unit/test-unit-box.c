/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-box-private.h"

#include "arena-loopback.h"
#include "arena-test.h"

#include <string.h>

/* Races between release, new views and the death of old ones: storage is freed once, and never under a view. */

#define N_ROUNDS  200
#define N_THREADS 3
#define SIZE      2048

typedef struct
{
  ArenaUnitBox *box;
  atomic_uint n_started;
  guint n_views[N_THREADS];
} Race;

static atomic_uint n_freed;

static void
poison_storage (gpointer data)
{
  atomic_fetch_add (&n_freed, 1);
  memset (data, 0xdd, SIZE);
  g_free (data);
}

static ArenaUnitBox *
make_box (ArenaLoopback *loop)
{
  g_autoptr (GError) error = NULL;
  guint8 *data = g_memdup2 (loop->writer->data + loop->offset, SIZE);
  ArenaUnitBox *box;

  g_assert_cmpuint (loop->size, ==, SIZE);
  box = arena_unit_box_new (arena_loopback_copy (loop), loop->published_size,
                            g_bytes_new_with_free_func (data, SIZE, poison_storage, data), NULL, &error);
  g_assert_no_error (error);
  return box;
}

static void
publish_one (ArenaLoopback *loop)
{
  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, SIZE, 5);
  arena_loopback_bytes (loop, NULL, 10, 6);
  g_object_unref (arena_loopback_send (loop));
}

static gpointer
view_until_released (gpointer data)
{
  Race *race = data;
  guint index = atomic_fetch_add (&race->n_started, 1);
  GBytes *view;

  /* Bounded, or on a busy machine the thread that releases would wait its turn for long. */
  while (race->n_views[index] < 500 && (view = arena_unit_box_view (race->box, &race->box->envelope.fields[0])) != NULL)
    {
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), 64, 5));
      g_bytes_unref (view);
      race->n_views[index]++;
    }

  return NULL;
}

static void
test_race (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (SIZE, 4096, 1024);

  publish_one (loop);
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      Race race = { .box = make_box (loop) };
      GThread *threads[N_THREADS];

      atomic_store (&n_freed, 0);
      for (guint i = 0; i < N_THREADS; i++)
        threads[i] = g_thread_new ("view", view_until_released, &race);
      while (atomic_load (&race.n_started) < 1)
        g_thread_yield ();
      arena_unit_box_release (race.box);
      for (guint i = 0; i < N_THREADS; i++)
        g_thread_join (threads[i]);

      g_assert_cmpuint (atomic_load (&n_freed), ==, 1);
      g_assert_cmpuint (arena_unit_box_get_n_views (race.box), ==, 0);
      arena_unit_box_unref (race.box);
    }
}

static gpointer
drop_view (gpointer data)
{
  g_bytes_unref (data);
  return NULL;
}

/* Views die on threads of their own while the unit lets go of its box. */
static void
test_last_view_anywhere (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (SIZE, 4096, 1024);

  publish_one (loop);
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      ArenaUnitBox *box = make_box (loop);
      GThread *threads[2];

      atomic_store (&n_freed, 0);
      for (guint i = 0; i < 2; i++)
        threads[i] = g_thread_new ("drop", drop_view, arena_unit_box_view (box, &box->envelope.fields[i]));
      arena_unit_box_release (box);
      arena_unit_box_unref (box);
      for (guint i = 0; i < 2; i++)
        g_thread_join (threads[i]);
      g_assert_cmpuint (atomic_load (&n_freed), ==, 1);
    }
}

static void
test_no_storage (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (0, 4096, 1024);
  ArenaUnitBox *box;
  GBytes *view;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, 10, 6);
  g_object_unref (arena_loopback_send (loop));
  box = arena_unit_box_new (arena_loopback_copy (loop), loop->published_size, NULL, NULL, NULL);
  view = arena_unit_box_view (box, &box->envelope.fields[0]);
  g_assert_false (arena_unit_box_is_released (box));
  arena_unit_box_release (box);
  g_assert_true (arena_unit_box_is_released (box));
  arena_unit_box_unref (box);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), 10, 6));
  g_bytes_unref (view);
}

/* Storage and what came outside go separately: neither's views keep the other. */
static void
test_spill (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (SIZE, 4096, 1024);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, SIZE, 5);
  arena_loopback_bytes (loop, NULL, SIZE, 6);
  g_assert_true (arena_unit_builder_commit (loop->builder, NULL));
  for (guint kept = 0; kept < 2; kept++)
    {
      guint8 *data[] = { g_memdup2 (loop->writer->data + loop->offset, SIZE),
                         g_memdup2 (g_bytes_get_data (loop->outside, NULL), SIZE) };
      ArenaUnitBox *box = arena_unit_box_new (arena_loopback_copy (loop), loop->published_size,
                                              g_bytes_new_with_free_func (data[0], SIZE, poison_storage, data[0]),
                                              g_bytes_new_with_free_func (data[1], SIZE, poison_storage, data[1]), NULL);
      GBytes *view = arena_unit_box_view (box, &box->envelope.fields[kept]);
      GBytes *whole = kept == 0 ? arena_unit_box_view_storage (box) : arena_unit_box_view_spill (box);

      atomic_store (&n_freed, 0);
      g_assert_cmpuint (arena_unit_box_get_n_views (box), ==, 2);
      arena_unit_box_release (box);
      arena_unit_box_release (box);
      g_assert_cmpuint (atomic_load (&n_freed), ==, 1);
      g_assert_null (arena_unit_box_view (box, &box->envelope.fields[0]));
      g_assert_null (arena_unit_box_view (box, &box->envelope.fields[1]));
      g_assert_null (arena_unit_box_view_spill (box));
      arena_unit_box_unref (box);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), SIZE, 5 + kept));
      g_bytes_unref (view);
      g_assert_cmpuint (atomic_load (&n_freed), ==, 1);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (whole, NULL), SIZE, 5 + kept));
      g_bytes_unref (whole);
      g_assert_cmpuint (atomic_load (&n_freed), ==, 2);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/unit-box/race", test_race);
  arena_test_add ("/arena/unit-box/last-view-anywhere", test_last_view_anywhere);
  arena_test_add ("/arena/unit-box/no-storage", test_no_storage);
  arena_test_add ("/arena/unit-box/spill", test_spill);
  return g_test_run ();
}
