/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

#include "arena-boundary.h"
#include "unit/arena-field.h"

/* What of a unit is pinned, and pools whose consumer may not write. */

static gboolean
is_pinned (ArenaUnit *unit)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaField) field = arena_unit_dup_field (unit, 0, &error);

  g_assert_no_error (error);
  return arena_field_get_is_pinned (field);
}

/* Receives one unit of @size. */
static gboolean
receive (ArenaBackend *pool,
         gsize         size)
{
  ArenaConsumer *consumer = arena_test_consumer_new (pool, 1);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) unit = NULL;
  gboolean pinned;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, size, 0, NULL));
  unit = arena_test_next (consumer);
  pinned = is_pinned (unit);
  arena_unit_release (unit);
  arena_test_close (consumer, NULL);
  return pinned;
}

/* F59 */
static void
test_is_pinned (void)
{
  ArenaEnds other;

  scenario_open_pool (&other, 1); /* something is pinned anyway */
  g_assert_true (receive (scenario_pool_new (2, NULL, 0), SCENARIO_PAGE));
  g_assert_false (receive (arena_test_pool_new (SCENARIO_PAGE, 2), SCENARIO_PAGE));
  g_assert_false (receive (scenario_pool_new (2, NULL, 0), 100)); /* travels with the description */
  scenario_close (&other);
}

/* Whether there is room for a page of items of @dtype in a unit, and what its field says. */
static gboolean
pass_items (ArenaProducer *producer,
            ArenaConsumer *consumer,
            ArenaDType     dtype,
            gboolean       pinned)
{
  const guint64 shape[] = { SCENARIO_PAGE / MAX (arena_dtype_get_item_size (dtype), 1) };
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (SCENARIO_PAGE, dtype), received = NULL;
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, SCENARIO_PAGE, 0, NULL, &error);
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(ArenaField) field = NULL;

  g_assert_no_error (error);
  if (arena_unit_builder_append_bytes (builder, "x", dtype, shape, 1, bytes, &error) < 0)
    {
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "0x40801 is not a data type");
      arena_unit_builder_abort (builder);
      return FALSE;
    }

  g_assert_true (arena_unit_builder_commit (builder, NULL));
  unit = arena_test_next (consumer);
  field = arena_unit_dup_field (unit, 0, &error);
  g_assert_cmpuint (arena_field_get_dtype (field), ==, dtype);
  g_assert_cmpint (arena_field_get_is_pinned (field), ==, pinned);
  received = arena_test_dup_bytes (unit);
  g_assert_true (g_bytes_equal (received, bytes));
  return TRUE;
}

/* F61: pinning is the same for every type, bfloat16 among them, and for one that isn't any. */
static void
test_dtypes (void)
{
  static const ArenaDType dtypes[] = { ARENA_DTYPE_UINT8, ARENA_DTYPE_BFLOAT16, ARENA_DTYPE_COMPLEX128, ARENA_DTYPE_BOOL };

  for (guint pinned = 0; pinned < 2; pinned++)
    {
      ArenaBackend *pool = pinned ? scenario_pool_new (2, NULL, 0) : arena_test_pool_new (SCENARIO_PAGE, 2);
      ArenaConsumer *consumer = arena_test_consumer_new (pool, 1);
      g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);

      g_assert_true (arena_consumer_start (consumer, NULL));
      arena_test_wait_iteration (producer);
      for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
        g_assert_true (pass_items (producer, consumer, dtypes[i], pinned));
      g_assert_false (pass_items (producer, consumer, 0x040801, pinned)); /* of 8 bits */
      arena_test_close (consumer, NULL);
    }
}

/* No segment is ever empty, and nothing is asked about an empty field. */
static void
test_empty (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = NULL;
  ArenaSent sent;
  ArenaEnds ends;

  g_assert_null (g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", G_GUINT64_CONSTANT (4096), "count", 0,
                                 "pin-memory", TRUE, NULL));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_null (g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", G_GUINT64_CONSTANT (0), "count", 4,
                                 "pin-memory", TRUE, NULL));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);

  scenario_open_pool (&ends, 1);
  arena_fake_log_clear ();
  sent = arena_ends_send (&ends, 100, 1);
  bytes = arena_reader_read (ends.reader, sent.span, sent.offset, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_true (arena_reader_end_unit (ends.reader, sent.span, NULL));
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
  scenario_close (&ends);
}

static void
test_read_only (void)
{
  ArenaWorker *worker = arena_test_worker_new (scenario_pool_new (2, "read-only", TRUE), 1, "units=2", "size=4096",
                                               NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  ArenaUnit *unit;

  /* Nothing is mapped before the producer has sealed it. */
  scenario_assert_pinned (0, 0);
  unit = arena_test_next (consumer);
  g_assert_true (is_pinned (unit));
  g_object_unref (unit);
  arena_test_receive (consumer, 1, 4096);
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 2);
  g_assert_cmpuint (scenario_get_call ("cudaHostRegister", 0).flags, ==, CUDA_HOST_PORTABLE | CUDA_HOST_READ_ONLY);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  arena_test_close (consumer, NULL);
}

/* Known at once, not only with the first unit. */
static void
test_read_only_unsupported (void)
{
  g_autoptr(ArenaBackend) pool = scenario_pool_new (2, "read-only", TRUE);
  g_autoptr(GError) error = NULL;

  arena_fake_set_attr (0, CUDA_ATTRIBUTE_READ_ONLY_REGISTER, 0);
  g_assert_null (arena_consumer_new (pool, 1, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED, "read-only pool", "Device 0");
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 0);
}

static void
test_read_only_fails (void)
{
  ArenaWorker *worker = arena_test_worker_new (scenario_pool_new (2, "read-only", TRUE), 1, "units=1", "size=4096",
                                               NULL);
  g_autoptr(GError) error = NULL;

  arena_fake_inject ("cudaHostRegister", 2, 1, CUDA_NOT_SUPPORTED, false);
  g_assert_null (arena_consumer_next (ARENA_CONSUMER (worker), 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED, "cudaHostRegister: segment 1 of 2",
                           "cudaErrorNotSupported (801)");
  scenario_assert_pinned (0, 0);
  arena_test_close (ARENA_CONSUMER (worker), NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/is-pinned-by-field", test_is_pinned);
  scenario_add ("/arena/cuda/types-are-the-same", test_dtypes);
  scenario_add ("/arena/cuda/scenario-18-nothing-is-empty", test_empty);
  scenario_add ("/arena/cuda/scenario-19-read-only", test_read_only);
  scenario_add ("/arena/cuda/scenario-19-read-only-unsupported", test_read_only_unsupported);
  scenario_add ("/arena/cuda/scenario-19-read-only-fails", test_read_only_fails);
  return g_test_run ();
}
