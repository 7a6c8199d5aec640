/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F08: a pool's view is the segment itself and no copy: what the producer's end still writes there shows through it
 * (against the rules, which is why the rules are there). */

#define SIZE 8192

static void
test (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 2), 1);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnitBuilder) builder = NULL;
  g_autoptr(GBytes) lent = NULL, view = NULL;
  g_autoptr(ArenaUnit) unit = NULL;
  volatile guint8 *written;
  const volatile guint8 *seen;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  builder = g_object_ref (arena_producer_begin_unit (producer, SIZE, 0, NULL, NULL));
  lent = arena_unit_builder_reserve (builder, "x", ARENA_DTYPE_UINT8, (guint64[]) { SIZE }, 1, NULL, NULL);
  g_assert_nonnull (lent);
  written = (volatile guint8 *) g_bytes_get_data (lent, NULL);
  arena_test_fill_pattern ((gpointer) written, SIZE, 0);
  g_assert_true (arena_unit_builder_commit (builder, NULL));

  unit = arena_test_next (consumer);
  view = arena_test_dup_bytes (unit);
  seen = g_bytes_get_data (view, NULL);
  g_assert_true (arena_test_check_bytes (view, 0));
  for (guint i = 0; i < SIZE; i += 1023)
    {
      written[i] = (guint8) (seen[i] ^ 0xff);
      g_assert_cmpuint (seen[i], ==, written[i]);
    }

  g_clear_pointer (&view, g_bytes_unref);
  g_clear_pointer (&lent, g_bytes_unref);
  g_clear_object (&unit);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/pool-view-is-the-segment", test);
  return g_test_run ();
}
