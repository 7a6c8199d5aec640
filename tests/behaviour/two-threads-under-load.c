/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F78, F97, F143, F150: a producer thread, a consumer thread and one that drops views later and out of order, at full speed:
 * every unit arrives intact, nothing is overwritten while it is held, and neither side sleeps for ever. */

#define KEPT 8

typedef struct
{
  ArenaSent sent;
  GBytes   *view;
} Item;

typedef struct
{
  ArenaEnds        ends;
  gsize            size;
  guint            n_units;
  _Atomic (Item *) queue[64]; /* producer to consumer */
  _Atomic (Item *) kept[KEPT]; /* consumer to the dropper */
  _Atomic gboolean done;
} Load;

static void
put (_Atomic (Item *) *slot,
     Item             *item)
{
  Item *empty = NULL;

  while (!atomic_compare_exchange_weak (slot, &empty, item))
    {
      empty = NULL;
      g_thread_yield ();
    }
}

static gpointer
produce (gpointer data)
{
  Load *load = data;

  for (guint i = 0; i < load->n_units; i++)
    {
      Item *item = g_new0 (Item, 1);

      item->sent = arena_ends_send (&load->ends, 1 + (i * 7919) % load->size, i);
      put (&load->queue[i % G_N_ELEMENTS (load->queue)], item);
    }

  return NULL;
}

static gboolean
drop_one (Load *load,
          guint i)
{
  Item *item = atomic_exchange (&load->kept[i], NULL);

  if (item == NULL)
    return FALSE;

  arena_ends_check (item->view, &item->sent);
  g_bytes_unref (item->view);
  g_free (item);
  return TRUE;
}

static gpointer
drop (gpointer data)
{
  Load *load = data;

  for (guint i = 0; !atomic_load (&load->done); i += 5)
    if (!drop_one (load, i % KEPT))
      g_thread_yield ();

  for (guint i = 0; i < KEPT; i++)
    drop_one (load, i);
  return NULL;
}

static void
run (Load *load)
{
  GThread *producer = g_thread_new ("produce", produce, load);
  GThread *dropper = g_thread_new ("drop", drop, load);

  for (guint i = 0; i < load->n_units; i++)
    {
      Item *item;

      while ((item = atomic_exchange (&load->queue[i % G_N_ELEMENTS (load->queue)], NULL)) == NULL)
        g_thread_yield ();
      item->view = arena_ends_take (&load->ends, &item->sent);
      if (i % 3 != 0)
        put (&load->kept[i % KEPT], item);
      else
        {
          g_bytes_unref (item->view);
          g_free (item);
        }
    }

  g_thread_join (producer);
  atomic_store (&load->done, TRUE);
  g_thread_join (dropper);
  arena_ends_clear (&load->ends);
}

static void
test_pool (void)
{
  for (guint count = 1; count <= 4; count++)
    {
      Load load = { .size = 3000, .n_units = 4000 };

      arena_ends_open_pool (&load.ends, load.size, count);
      run (&load);
    }
}

static void
test_ring (void)
{
  Load load = { .size = 3000, .n_units = 8000 };

  arena_ends_open_ring (&load.ends, 5000);
  run (&load);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/two-threads-under-load", test_pool);
  arena_test_add ("/arena/ring/two-threads-under-load", test_ring);
  return g_test_run ();
}
