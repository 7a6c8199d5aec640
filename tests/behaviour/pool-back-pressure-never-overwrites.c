/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* C61: three stages, each in a thread of its own and each holding 3 units, over 4 segments. There is back-pressure, and no
 * byte changes under a holder. */

#define SEGMENT 65536
#define COUNT   4
#define HOLD    3
#define UNITS   600

typedef struct
{
  ArenaSent sent;
  GBytes   *view;
} Item;

/* A slot of its own for each item: handing over is one atomic store. */
static _Atomic (Item *) first[UNITS];
static _Atomic (Item *) second[UNITS];
static ArenaEnds ends;

static Item *
wait_for (_Atomic (Item *) *slot)
{
  Item *item;

  while ((item = atomic_load (slot)) == NULL)
    g_usleep (20);

  return item;
}

static gpointer
produce (gpointer data)
{
  for (guint i = 0; i < UNITS; i++)
    {
      Item *item = g_new0 (Item, 1);

      item->sent = arena_ends_send (&ends, 1000 + i % 60000, i);
      atomic_store (&first[i], item);
    }

  return NULL;
}

static void
drop (Item *item)
{
  arena_ends_check (item->view, &item->sent);
  g_bytes_unref (item->view);
  g_free (item);
}

static gpointer
use_second (gpointer data)
{
  Item *held[HOLD] = { NULL };

  /* Holds up to 3, and lets the oldest go when nothing more comes: the pool is smaller than what all would hold. */
  for (guint i = 0; i < UNITS; i++)
    {
      for (guint n = 0; atomic_load (&second[i]) == NULL; n++)
        {
          g_usleep (20);
          for (guint k = 0; n == 20 && k < HOLD; k++)
            g_clear_pointer (&held[(i + k) % HOLD], drop);
        }
      g_clear_pointer (&held[i % HOLD], drop);
      held[i % HOLD] = wait_for (&second[i]);
      arena_ends_check (held[i % HOLD]->view, &held[i % HOLD]->sent);
    }

  for (guint i = 0; i < HOLD; i++)
    g_clear_pointer (&held[i], drop);
  return NULL;
}

static void
test (void)
{
  GThread *producer, *last;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  producer = g_thread_new ("produce", produce, NULL);
  last = g_thread_new ("second", use_second, NULL);
  for (guint i = 0; i < UNITS; i++)
    {
      Item *item = wait_for (&first[i]);

      item->view = arena_ends_take (&ends, &item->sent);
      atomic_store (&second[i], item);
    }

  g_thread_join (producer);
  g_thread_join (last);
  arena_ends_clear (&ends);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/back-pressure-never-overwrites", test);
  return g_test_run ();
}
