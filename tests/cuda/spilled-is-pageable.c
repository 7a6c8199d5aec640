/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "cuda-test.h"
#include "unit/arena-field.h"

/* F59: what a unit of a pinned arena has outside of it, for it didn't fit, is ordinary memory: its field says so, and a transfer
 * copies it to pinned memory first. */

#define SIZE 8192

/* One unit of @size to a device. */
static void
pass (ArenaConsumer *consumer,
      ArenaProducer *producer,
      gsize          size,
      gboolean       pinned)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(ArenaField) field = NULL;
  g_autoptr(GPtrArray) buffers = NULL;
  g_autoptr(GBytes) bytes = NULL, back = NULL;
  gconstpointer data;

  g_assert_true (arena_test_send (producer, size, 0, NULL));
  unit = arena_test_next (consumer);
  field = arena_unit_dup_field (unit, 0, &error);
  g_assert_no_error (error);
  bytes = arena_test_dup_bytes (unit);
  data = g_bytes_get_data (bytes, NULL);
  g_assert_cmpint (arena_field_get_is_pinned (field), ==, pinned);
  g_assert_cmpint (arena_fake_is_pinned (data, size), ==, pinned);

  arena_fake_log_clear ();
  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  g_assert_cmpint (cuda_test_get_call ("cudaMemcpyAsync", 0).ptr == (guintptr) data, ==, pinned);
  back = arena_device_buffer_download (g_ptr_array_index (buffers, 0), &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (back, bytes));
}

/* Takes @arena. */
static void
check (ArenaBackend *arena)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  pass (consumer, producer, SIZE, TRUE);
  pass (consumer, producer, 3 * SIZE, FALSE);
  pass (consumer, producer, SIZE, TRUE);
  arena_test_close (consumer, NULL);
}

static void
test_pool (void)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) SIZE, "count", 2,
                                       "oversize", ARENA_OVERSIZE_SPILL, "pin-memory", TRUE, NULL);

  g_assert_no_error (error);
  check (pool);
}

static void
test_ring (void)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *ring = g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) SIZE,
                                       "oversize", ARENA_OVERSIZE_SPILL, "pin-memory", TRUE, NULL);

  g_assert_no_error (error);
  check (ring);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/spilled-is-pageable/pool", test_pool);
  cuda_test_add ("/arena/cuda/spilled-is-pageable/ring", test_ring);
  return g_test_run ();
}
