/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F33: the arena carries bytes in units; what they mean is a serializer's, which may be anybody's. Here GKeyFile writes
 * the description and refers to the big part by the number of its field. */

#define SIZE 8192

static void
send (ArenaProducer *producer)
{
  g_autoptr(GKeyFile) file = g_key_file_new ();
  g_autofree guint8 *data = g_malloc (SIZE);
  g_autofree char *text = NULL;
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, SIZE, 0, NULL, NULL);
  gsize length;
  gint index;

  arena_test_fill_pattern (data, SIZE, 7);
  index = arena_unit_builder_append_address (builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { SIZE }, 1,
                                             (guint64) (guintptr) data, SIZE, NULL, 0, NULL);
  g_key_file_set_string (file, "picture", "title", "snow ☃");
  g_key_file_set_integer (file, "picture", "pixels", index);
  text = g_key_file_to_data (file, &length, NULL);
  g_assert_true (arena_unit_builder_set_payload (builder, "application/x-keyfile", (const guint8 *) text, length,
                                                  NULL));
  g_assert_true (arena_unit_builder_commit (builder, NULL));
}

static void
check (ArenaUnit *unit)
{
  g_autoptr(GKeyFile) file = g_key_file_new ();
  g_autofree guint8 *payload = NULL;
  g_autofree char *content_type = NULL;
  g_autofree char *title = NULL;
  g_autoptr(GBytes) bytes = NULL;
  gsize size;

  payload = arena_unit_copy_payload (unit, &size, &content_type, NULL);
  g_assert_cmpstr (content_type, ==, "application/x-keyfile");
  g_assert_true (g_key_file_load_from_data (file, (const char *) payload, size, G_KEY_FILE_NONE, NULL));
  title = g_key_file_get_string (file, "picture", "title", NULL);
  g_assert_cmpstr (title, ==, "snow ☃");
  bytes = arena_unit_dup_bytes (unit, (guint) g_key_file_get_integer (file, "picture", "pixels", NULL), NULL);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, SIZE);
  g_assert_true (arena_test_check_bytes (bytes, 7));
}

static void
run (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) unit = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  send (producer);
  unit = arena_test_next (consumer);
  check (unit);
  g_clear_object (&unit);
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  run (arena_test_pool_new (SIZE, 2));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (SIZE));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/foreign-serializer/pool", test_pool);
  arena_test_add ("/arena/boundary/foreign-serializer/ring", test_ring);
  return g_test_run ();
}
