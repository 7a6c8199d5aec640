/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 4: a table, a value or a payload longer than a queue slot crosses all the same, whatever the arena does with
 * fields that are too large. */

#define SIZE 100000

static void
send (ArenaProducer *producer,
      guint          kind)
{
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, 0, 0, NULL, &error);
  g_autofree guint8 *data = g_malloc (SIZE);

  g_assert_no_error (error);
  arena_test_fill_pattern (data, SIZE, kind);
  if (kind == 0)
    g_assert_true (arena_unit_builder_set_payload (builder, "application/octet-stream", data, SIZE, NULL));
  else if (kind == 1)
    g_assert_true (arena_unit_builder_set_value (builder, g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, data, SIZE, 1),
                                                 NULL));
  for (guint i = 0; i < (kind == 2 ? 4000 : 3); i++)
    {
      arena_unit_builder_append_address (builder, "a field with a name", ARENA_DTYPE_UINT8, (guint64[]) { 8 }, 1,
                                         (guintptr) data + i, 8, NULL, 0, &error);
      g_assert_no_error (error);
    }
  g_assert_true (arena_unit_builder_commit (builder, NULL));
}

static void
check (ArenaUnit *unit,
       guint      kind)
{
  g_autofree guint8 *data = g_malloc (SIZE);
  g_autofree guint8 *payload = arena_unit_copy_payload (unit, NULL, NULL, NULL);
  g_autoptr(GVariant) value = arena_unit_dup_value (unit, NULL);

  arena_test_fill_pattern (data, SIZE, kind);
  g_assert_cmpint (payload != NULL, ==, kind == 0);
  g_assert_true (payload == NULL || memcmp (payload, data, SIZE) == 0);
  g_assert_cmpint (value != NULL, ==, kind == 1);
  g_assert_true (value == NULL || memcmp (g_variant_get_data (value), data, SIZE) == 0);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, kind == 2 ? 4000 : 3);
  for (guint i = 0; i < arena_unit_get_n_fields (unit); i++)
    {
      g_autoptr(GBytes) bytes = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), data + i, 8);
    }
}

static void
test (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4 * SIZE, 4), 3);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaStats) stats = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint round = 0; round < 2; round++)
    {
      for (guint kind = 0; kind < 3; kind++)
        send (producer, kind);
      for (guint kind = 0; kind < 3; kind++)
        {
          g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

          check (unit, kind);
        }
    }
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_spilled_bytes (stats), >, 6 * SIZE);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/long-envelopes-cross", test);
  return g_test_run ();
}
