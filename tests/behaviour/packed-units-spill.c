/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-record.h"

/* The packed calls know one piece of storage: what came outside of the arena is it, without a copy, where nothing is in the
 * arena; where both are, it is a copy of both that keeps neither. */

#define SIZE 4096

static guint8 source[3 * SIZE];

static void
send (ArenaProducer *producer,
      const gsize   *sizes,
      guint          n)
{
  g_autoptr(ArenaRecord) record = arena_record_new ();
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;

  arena_test_fill_pattern (source, sizeof source, 5);
  for (guint i = 0; i < n; i++)
    arena_record_field (record, "x", ARENA_DTYPE_UINT8, (guint64[]) { sizes[i] }, 1, NULL, source, sizes[i]);
  bytes = arena_record_end (record);
  arena_producer_send_packed (producer, 0, NULL, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), &error);
  g_assert_no_error (error);
}

static void
check (const guint8 *record,
       gsize         record_size,
       GBytes       *storage,
       const gsize  *sizes,
       guint         n)
{
  gsize size = 0;
  const guint8 *data = storage != NULL ? g_bytes_get_data (storage, &size) : NULL;

  for (guint i = 0; i < n; i++)
    {
      ArenaPackedField field;
      gboolean inside;

      arena_record_read (record, record_size, i, &field);
      inside = (field.flags & ARENA_PACKED_IN_RECORD) != 0;
      g_assert_cmpuint (field.size, ==, sizes[i]);
      g_assert_cmpint (inside, ==, sizes[i] < SIZE / 2);
      g_assert_cmpuint (field.position + field.size, <=, inside ? record_size : size);
      g_assert_true (inside || field.position % 64 == 0);
      g_assert_true (arena_test_check_pattern ((inside ? record : data) + field.position, sizes[i], 5));
    }
}

/* @n sizes; whether the unit keeps a segment as long as its storage lives. */
static void
run (gboolean     ring,
     const gsize *sizes,
     guint        n,
     gboolean     keeps)
{
  g_autoptr(ArenaBackend) backend = arena_test_spilling_new (ring, SIZE);
  ArenaConsumer *consumer = g_initable_new (ARENA_TYPE_CONSUMER, NULL, NULL, "backend", backend, "buffer-size", 2,
                                            "threshold", SIZE / 2, NULL);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  GBytes *kept[6] = { NULL };

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < (keeps ? 2 : 6); i++)
    {
      g_autoptr(ArenaUnit) unit = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree guint8 *record = NULL;
      gsize size;

      send (producer, sizes, n);
      if (i % 2 == 0)
        unit = arena_test_next (consumer);
      record = unit != NULL ? arena_unit_take_packed (unit, &size, &kept[i], &error)
                            : arena_consumer_next_packed (consumer, 0, NULL, &size, &kept[i], &error);
      g_assert_no_error (error);
      check (record, size, kept[i], sizes, n);
      g_assert_cmpuint (((const guint64 *) (const void *) record)[1], ==, GPOINTER_TO_SIZE (g_bytes_get_data (kept[i], NULL)));
    }

  arena_test_close (consumer, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kept) && kept[i] != NULL; i++)
    {
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (kept[i], NULL), 3000, 5));
      g_bytes_unref (kept[i]);
    }
}

static void
test (void)
{
  for (guint ring = 0; ring < 2; ring++)
    {
      run (ring != 0, (gsize[]) { 2 * SIZE }, 1, FALSE);
      run (ring != 0, (gsize[]) { 50, 2 * SIZE, 3 * SIZE }, 3, FALSE);
      run (ring != 0, (gsize[]) { 3000, 3000, 40, 3 * SIZE }, 4, FALSE);
      run (ring != 0, (gsize[]) { 2 * SIZE, 3001, 3 * SIZE, 3002 }, 4, FALSE);
    }
  run (FALSE, (gsize[]) { SIZE }, 1, TRUE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/packed-units-spill", test);
  return g_test_run ();
}
