/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <string.h>

/* C43: a received field may be written to. In a pool that is the segment, which every view of the unit shows; from a
 * ring it is the receiver's own memory, which no other unit shares. tests/process/read-only-pool.c has the way to
 * refuse it. */

#define SIZE 8192

static void
open_ends (ArenaBackend   *backend,
           ArenaConsumer **consumer,
           ArenaProducer **producer)
{
  *consumer = arena_test_consumer_new (backend, 4);
  *producer = arena_test_producer_new (*consumer);
  g_assert_true (arena_consumer_start (*consumer, NULL));
  arena_test_wait_iteration (*producer);
}

static GBytes *
receive_written (ArenaConsumer *consumer)
{
  g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
  g_autoptr(GBytes) view = arena_test_dup_bytes (unit);
  GBytes *other = arena_test_dup_bytes (unit);

  g_assert_true (arena_test_check_bytes (view, 0));
  memset ((gpointer) g_bytes_get_data (view, NULL), 0xa5, SIZE);
  g_assert_cmpmem (g_bytes_get_data (other, NULL), SIZE, g_bytes_get_data (view, NULL), SIZE);
  return other;
}

static void
test_pool (void)
{
  g_autoptr(ArenaProducer) producer = NULL;
  g_autoptr(GBytes) written = NULL;
  ArenaConsumer *consumer;

  open_ends (arena_test_pool_new (SIZE, 2), &consumer, &producer);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  written = receive_written (consumer);
  g_assert_cmpuint (((const guint8 *) g_bytes_get_data (written, NULL))[SIZE - 1], ==, 0xa5);
  /* The next unit of that segment is whole. */
  g_clear_pointer (&written, g_bytes_unref);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
      arena_test_receive (consumer, 1, SIZE);
    }
  arena_test_close (consumer, NULL);
}

/* The ring has room for one unit. */
static void
test_ring (void)
{
  g_autoptr(ArenaProducer) producer = NULL;
  g_autoptr(GBytes) written = NULL;
  ArenaConsumer *consumer;

  open_ends (arena_test_ring_new (SIZE), &consumer, &producer);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  written = receive_written (consumer);
  g_assert_true (arena_test_send (producer, SIZE, 0, NULL));
  memset ((gpointer) g_bytes_get_data (written, NULL), 0x5a, SIZE);
  arena_test_receive (consumer, 1, SIZE);
  for (guint i = 0; i < SIZE; i++)
    g_assert_cmpuint (((const guint8 *) g_bytes_get_data (written, NULL))[i], ==, 0x5a);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/written-views/pool", test_pool);
  arena_test_add ("/arena/boundary/written-views/ring", test_ring);
  return g_test_run ();
}
