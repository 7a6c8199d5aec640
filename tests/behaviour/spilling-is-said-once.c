/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A boundary whose units don't fit says so in one line, which names what to make larger; one whose units fit says nothing. */

#define SIZE 4096

static void
check (ArenaBackend *backend,
       gsize         size,
       const char   *text)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);

  arena_test_log_forget ();
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 10; i++)
    {
      g_assert_true (arena_test_send (producer, size, 0, NULL));
      arena_test_receive (consumer, 1, size);
    }
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, NULL), ==, text != NULL ? 1 : 0);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, text), ==, text != NULL ? 1 : 0);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_WARNING, NULL), ==, 0);
  arena_test_close (consumer, NULL);
}

static void
test_fields (void)
{
  check (arena_test_spilling_new (FALSE, SIZE), SIZE + 1,
         "Unit 0 came with 4097 bytes outside of the arena, beside 0 in it; where that happens often, make segment_size "
         "larger than 4096");
  check (arena_test_spilling_new (TRUE, SIZE), 2 * SIZE, "make capacity larger than 4096");
  check (arena_test_spilling_new (FALSE, SIZE), SIZE, NULL);
}

static void
test_envelope (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 2), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autofree guint8 *payload = g_malloc0 (30000);

  arena_test_log_forget ();
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 3; i++)
    {
      ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, 0, 0, NULL, NULL);

      g_assert_true (arena_unit_builder_set_payload (builder, "t", payload, 30000, NULL));
      g_assert_true (arena_unit_builder_commit (builder, NULL));
      g_clear_object (&(ArenaUnit *) { arena_test_next (consumer) });
    }
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, "make envelope_size larger than 16384"), ==, 1);
  g_assert_cmpuint (arena_test_log_count (G_LOG_LEVEL_INFO, NULL), ==, 1);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/spilling/fields-are-said-once", test_fields);
  arena_test_add ("/arena/spilling/envelopes-are-said-once", test_envelope);
  return g_test_run ();
}
