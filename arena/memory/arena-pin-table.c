/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-pin-table-private.h"

#include "base/arena-checked-private.h"

#include <pthread.h>
#include <stdatomic.h>

/* An array sorted by address, under one lock that is never held across anything but a fork(), for which a child's copy of
 * it is free and empty. In a program that pins nothing, the question costs one load. */

typedef struct
{
  guintptr start;
  gsize    size;
} Range;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic guint n_ranges;
static GArray *ranges; /* NULL: nothing was ever entered, in this process or an ancestor */

/* How many ranges start at or below @address. */
static guint
count_up_to (guintptr address)
{
  guint low = 0;
  guint high = ranges->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (ranges, Range, middle).start <= address)
        low = middle + 1;
      else
        high = middle;
    }

  return low;
}

static void
lock (void)
{
  pthread_mutex_lock (&mutex);
}

static void
unlock (void)
{
  pthread_mutex_unlock (&mutex);
}

static void
unlock_in_child (void)
{
  g_array_set_size (ranges, 0);
  atomic_store_explicit (&n_ranges, 0, memory_order_relaxed);
  pthread_mutex_unlock (&mutex);
}

gboolean
arena_pin_table_is_empty (void)
{
  return atomic_load_explicit (&n_ranges, memory_order_relaxed) == 0;
}

void
arena_pin_table_add (gconstpointer start,
                     gsize         size)
{
  Range range = { (guintptr) start, size };

  lock ();
  if (ranges == NULL)
    {
      ranges = g_array_new (FALSE, FALSE, sizeof (Range));
      pthread_atfork (lock, unlock, unlock_in_child);
    }
  g_array_insert_val (ranges, count_up_to (range.start), range);
  atomic_store_explicit (&n_ranges, ranges->len, memory_order_relaxed);
  unlock ();
}

void
arena_pin_table_remove (gconstpointer start)
{
  guint n;

  if (arena_pin_table_is_empty ())
    return;

  lock ();
  n = count_up_to ((guintptr) start);
  if (n > 0 && g_array_index (ranges, Range, n - 1).start == (guintptr) start)
    g_array_remove_index (ranges, n - 1);
  atomic_store_explicit (&n_ranges, ranges->len, memory_order_relaxed);
  unlock ();
}

gboolean
arena_pin_table_covers (gconstpointer start,
                        gsize         size)
{
  gboolean covers = FALSE;
  guint n;

  if (size == 0 || arena_pin_table_is_empty ())
    return FALSE;

  lock ();
  n = count_up_to ((guintptr) start);
  if (n > 0)
    {
      const Range *range = &g_array_index (ranges, Range, n - 1);

      covers = arena_range_fits ((guintptr) start - range->start, size, range->size);
    }
  unlock ();
  return covers;
}

guint64
arena_pin_table_measure (gconstpointer start,
                         gsize         size,
                         guint        *n)
{
  guint64 sum = 0;
  guint count = 0;

  if (!arena_pin_table_is_empty ())
    {
      lock ();
      for (guint i = 0; i < ranges->len; i++)
        {
          const Range *range = &g_array_index (ranges, Range, i);

          if (range->start >= (guintptr) start && range->start - (guintptr) start < size)
            {
              sum += range->size;
              count++;
            }
        }
      unlock ();
    }

  if (n != NULL)
    *n = count;
  return sum;
}
