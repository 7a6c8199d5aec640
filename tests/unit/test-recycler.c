/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "backend/arena-recycler-private.h"

#include <stdatomic.h>
#include <string.h>

static GBytes *
make (ArenaRecycler *recycler,
      gsize          size,
      guint8         value)
{
  guint8 *buffer = arena_recycler_take (recycler, size);

  g_assert_nonnull (buffer);
  g_assert_cmpuint ((gsize) buffer % 64, ==, 0);
  memset (buffer, value, size);
  return arena_recycler_finish (recycler, buffer, size);
}

static void
test_reuse (void)
{
  ArenaRecycler *recycler = arena_recycler_new (1 << 20);
  GBytes *bytes = make (recycler, 5000, 1);
  gconstpointer first = g_bytes_get_data (bytes, NULL);
  gsize total = arena_recycler_get_bytes (recycler);

  g_assert_cmpuint (total, >=, 5000);
  g_assert_cmpuint (total, <=, 5000 * 5 / 4 + 64);
  g_bytes_unref (bytes);
  bytes = make (recycler, 4990, 2);
  g_assert_true (g_bytes_get_data (bytes, NULL) == first);
  g_assert_cmpuint (arena_recycler_get_bytes (recycler), ==, total);
  g_bytes_unref (bytes);
  arena_recycler_unref (recycler);
}

static void
test_sizes (void)
{
  const gsize sizes[] = { 0, 1, 63, 64, 65, 447, 448, 449, 512, 513, 1000, 4095, 4096, 4097, 100000, (1 << 20) + 1 };
  ArenaRecycler *recycler = arena_recycler_new (0);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      GBytes *bytes = make (recycler, sizes[i], 7);

      g_assert_cmpuint (g_bytes_get_size (bytes), ==, sizes[i]);
      g_assert_cmpuint (arena_recycler_get_bytes (recycler), >=, sizes[i]);
      g_assert_cmpuint (arena_recycler_get_bytes (recycler), <=, sizes[i] * 5 / 4 + 64);
      g_bytes_unref (bytes);
      g_assert_cmpuint (arena_recycler_get_bytes (recycler), ==, 0);
    }

  g_assert_null (arena_recycler_take (recycler, G_MAXSIZE));
  g_assert_null (arena_recycler_take (recycler, G_MAXSIZE / 2));
  arena_recycler_unref (recycler);
}

static void
test_bound (void)
{
  ArenaRecycler *recycler = arena_recycler_new (10 * 4096);
  GBytes *kept[30];

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    kept[i] = make (recycler, 4096, (guint8) i);
  g_assert_cmpuint (arena_recycler_get_bytes (recycler), ==, 30 * 4096);

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    {
      g_assert_cmpuint (((const guint8 *) g_bytes_get_data (kept[i], NULL))[4095], ==, i);
      g_bytes_unref (kept[i]);
    }
  g_assert_cmpuint (arena_recycler_get_bytes (recycler), ==, 10 * 4096);
  arena_recycler_unref (recycler);
}

/* Units change their size: what waits must not be in the way for ever. */
static void
test_change_of_size (void)
{
  ArenaRecycler *recycler = arena_recycler_new (10 * 4096);
  GBytes *kept[10];
  gconstpointer first;

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    kept[i] = make (recycler, 4096, 0);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    g_bytes_unref (kept[i]);

  kept[0] = make (recycler, 8192, 0);
  first = g_bytes_get_data (kept[0], NULL);
  g_bytes_unref (kept[0]);
  kept[0] = make (recycler, 8192, 0);
  g_assert_true (g_bytes_get_data (kept[0], NULL) == first);
  g_assert_cmpuint (arena_recycler_get_bytes (recycler), ==, 10 * 4096);
  g_bytes_unref (kept[0]);
  arena_recycler_unref (recycler);
}

static void
test_outlived (void)
{
  ArenaRecycler *recycler = arena_recycler_new (1 << 20);
  GBytes *a = make (recycler, 100, 1);
  GBytes *b = make (recycler, 100, 2);

  g_bytes_unref (make (recycler, 100, 3));
  arena_recycler_unref (recycler);
  g_assert_cmpuint (((const guint8 *) g_bytes_get_data (a, NULL))[99], ==, 1);
  g_bytes_unref (a);
  g_assert_cmpuint (((const guint8 *) g_bytes_get_data (b, NULL))[99], ==, 2);
  g_bytes_unref (b);
}

enum { ROUNDS = 20000, SLOTS = 8 };

static _Atomic (GBytes *) slots[SLOTS];

static gpointer
drop_slots (gpointer data)
{
  for (guint i = 0; i < ROUNDS; i++)
    {
      GBytes *bytes;

      while ((bytes = atomic_exchange (&slots[i % SLOTS], NULL)) == NULL)
        g_thread_yield ();
      g_bytes_unref (bytes);
    }

  return NULL;
}

static void
test_two_threads (void)
{
  ArenaRecycler *recycler = arena_recycler_new (4 * 256);
  GThread *thread = g_thread_new ("drop", drop_slots, NULL);

  for (guint i = 0; i < ROUNDS; i++)
    {
      GBytes *bytes = make (recycler, 100 + i % 150, (guint8) i);

      while (atomic_load (&slots[i % SLOTS]) != NULL)
        g_thread_yield ();
      atomic_store (&slots[i % SLOTS], bytes);
    }

  g_thread_join (thread);
  g_assert_cmpuint (arena_recycler_get_bytes (recycler), <=, 4 * 256);
  arena_recycler_unref (recycler);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/recycler/dropped-buffer-is-used-again", test_reuse);
  arena_test_add ("/arena/recycler/every-size-with-little-waste", test_sizes);
  arena_test_add ("/arena/recycler/what-waits-is-bounded", test_bound);
  arena_test_add ("/arena/recycler/new-sizes-push-old-ones-out", test_change_of_size);
  arena_test_add ("/arena/recycler/buffers-outlive-it", test_outlived);
  arena_test_add ("/arena/recycler/dropped-by-another-thread", test_two_threads);
  return g_test_run ();
}
