/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F04, F05, F60, C64, C95: one unit may mix small values, large fields and empty ones; it has to fit as a whole. */

static const struct
{
  const char *name;
  guint64     shape[3];
  guint       n_dims;
  gsize       size;
} fields[] = {
  { "small", { 10 }, 1, 10 },
  { "large", { 100, 100 }, 2, 10000 },
  { "empty", { 0 }, 1, 0 },
  { "empty-row", { 0, 4 }, 2, 0 },
  { "empty-box", { 3, 0, 2 }, 3, 0 },
  { "other", { 7000 }, 1, 7000 },
};

static void
append (ArenaUnitBuilder *builder)
{
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_autofree guint8 *data = g_malloc (fields[i].size + 1);
      g_autoptr(GBytes) bytes = NULL;
      g_autoptr(GError) error = NULL;

      arena_test_fill_pattern (data, fields[i].size, i);
      bytes = g_bytes_new_static (data, fields[i].size);
      arena_unit_builder_append_bytes (builder, fields[i].name, ARENA_DTYPE_UINT8, fields[i].shape, fields[i].n_dims,
                                       bytes, &error);
      g_assert_no_error (error);
    }
}

static void
check (ArenaUnit *unit)
{
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, G_N_ELEMENTS (fields));
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    {
      g_autoptr(GBytes) bytes = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpint (arena_unit_find_field (unit, fields[i].name), ==, (gint) i);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, fields[i].size);
      g_assert_true (arena_test_check_bytes (bytes, i));
    }
}

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  ArenaUnitBuilder *builder;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 8; i++)
    {
      g_autoptr(ArenaUnit) unit = NULL;

      builder = arena_producer_begin_unit (producer, 0, 0, NULL, NULL);
      append (builder);
      g_assert_true (arena_unit_builder_commit (builder, NULL));
      unit = arena_test_next (consumer);
      check (unit);
    }
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (20000, 2));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (20000));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/mixed-values/pool", test_pool);
  arena_test_add ("/arena/boundary/mixed-values/ring", test_ring);
  return g_test_run ();
}
