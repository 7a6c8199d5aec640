/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"
#include "unit/arena-unit-builder-fields-private.h"

#include <string.h>
#include <sys/resource.h>

#define CAPACITY 8192
#define ENVELOPE 4096

static void
assert_field (ArenaUnit *unit,
              guint      index,
              gsize      size,
              guint64    seed)
{
  g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, index, NULL);

  g_assert_cmpuint (g_bytes_get_size (view), ==, size);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), size, seed));
}

static ArenaPlacement
placement (ArenaLoopback *loop,
           guint          index)
{
  return arena_envelope_field_placement (&g_array_index (loop->builder->encoder.fields, ArenaEnvelopeField, index));
}

/* What is larger than the arena's place never asks for it; what only finds it full has it asked first. */
static void
test_what_has_no_room (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "giant", CAPACITY + 1, 0);
  g_assert_cmpuint (loop->n_acquired, ==, 0);
  arena_loopback_bytes (loop, "first", 5000, 1);
  arena_loopback_bytes (loop, "second", 5000, 2);
  arena_loopback_bytes (loop, "third", 2000, 3);
  arena_loopback_bytes (loop, "small", 10, 4);
  g_assert_cmpint (placement (loop, 0), ==, ARENA_PLACEMENT_SPILL);
  g_assert_cmpint (placement (loop, 1), ==, ARENA_PLACEMENT_STORAGE);
  g_assert_cmpint (placement (loop, 2), ==, ARENA_PLACEMENT_SPILL);
  g_assert_cmpint (placement (loop, 3), ==, ARENA_PLACEMENT_STORAGE);
  g_assert_cmpint (placement (loop, 4), ==, ARENA_PLACEMENT_INLINE);

  unit = arena_loopback_send (loop);
  g_assert_cmpuint (loop->n_sent, ==, 1);
  g_assert_cmpuint (loop->spill_size, ==, 8256 + 5000);
  g_assert_cmpuint (g_bytes_get_size (loop->outside), ==, loop->spill_size);
  assert_field (unit, 0, CAPACITY + 1, 0);
  assert_field (unit, 1, 5000, 1);
  assert_field (unit, 2, 5000, 2);
  assert_field (unit, 3, 2000, 3);
  assert_field (unit, 4, 10, 4);
}

/* A unit that fits does nothing of all this. */
static void
test_usual_unit (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, CAPACITY, 0);
  arena_loopback_bytes (loop, NULL, 100, 1);
  g_object_unref (arena_loopback_send (loop));
  g_assert_cmpuint (loop->n_sent, ==, 0);
  g_assert_null (loop->outside);
  g_assert_cmpint (loop->builder->spill.fd, ==, -1);
  g_assert_null (loop->builder->encoder.heap);
}

/* The buffer is the caller's own: what stands in it at the commit is sent, and it outlives the unit. */
static void
test_reserve (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GBytes) giant = NULL;
  g_autoptr (GBytes) beside = NULL;
  const guint64 shape[] = { CAPACITY + 1 };
  const guint64 less[] = { CAPACITY };
  guint index;

  arena_loopback_open (loop);
  giant = arena_unit_builder_reserve (loop->builder, "giant", ARENA_DTYPE_UINT8, shape, 1, &index, NULL);
  g_assert_cmpuint (index, ==, 0);
  g_assert_cmpuint (g_bytes_get_size (giant), ==, CAPACITY + 1);
  g_assert_cmpuint (GPOINTER_TO_SIZE (g_bytes_get_data (giant, NULL)) % 64, ==, 0);
  arena_loopback_bytes (loop, NULL, 100, 1);
  arena_loopback_bytes (loop, NULL, 2000, 2);
  beside = arena_unit_builder_reserve (loop->builder, "beside", ARENA_DTYPE_UINT8, less, 1, &index, NULL);
  g_assert_cmpuint (index, ==, 3);
  g_assert_cmpint (placement (loop, 3), ==, ARENA_PLACEMENT_SPILL);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (giant, NULL), CAPACITY + 1, 3);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (beside, NULL), CAPACITY, 4);

  unit = arena_loopback_send (loop);
  memset ((gpointer) g_bytes_get_data (giant, NULL), 0, CAPACITY + 1);
  assert_field (unit, 0, CAPACITY + 1, 3);
  assert_field (unit, 1, 100, 1);
  assert_field (unit, 2, 2000, 2);
  assert_field (unit, 3, CAPACITY, 4);
}

/* Each thing that fills an envelope, in either order with small fields, whose bytes move with it. */
static void
test_long_envelope (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  g_autofree guint8 *payload = g_malloc (10000);
  guint64 seed = 9;

  arena_test_fill_pattern (payload, 10000, seed);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (ArenaUnit) unit = NULL;
      g_autoptr (GVariant) value = NULL;
      g_autoptr (GBytes) reserved = NULL;
      g_autofree guint8 *copy = NULL;
      const guint64 shape[] = { 50 };
      gsize size;

      arena_loopback_open (loop);
      arena_loopback_bytes (loop, "before", 100, 1);
      reserved = arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_UINT8, shape, 1, NULL, NULL);
      arena_test_fill_pattern ((gpointer) g_bytes_get_data (reserved, NULL), 50, 2);
      if (i != 1)
        g_assert_true (arena_unit_builder_set_payload (loop->builder, "t", payload, 10000, NULL));
      if (i != 0)
        g_assert_true (arena_unit_builder_set_value (loop->builder, g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, payload,
                                                                                              9000, 1), NULL));
      arena_loopback_bytes (loop, "after", 100, 3);
      if (i == 2)
        arena_loopback_bytes (loop, "out", CAPACITY + 5, 4);

      unit = arena_loopback_send (loop);
      g_assert_cmpuint (loop->published_size, >, 9000);
      assert_field (unit, 0, 100, 1);
      assert_field (unit, 1, 50, 2);
      assert_field (unit, 2, 100, 3);
      if (i == 2)
        assert_field (unit, 3, CAPACITY + 5, 4);
      copy = arena_unit_copy_payload (unit, &size, NULL, NULL);
      g_assert_cmpuint (size, ==, i != 1 ? 10000 : 0);
      g_assert_true (size == 0 || arena_test_check_pattern (copy, size, seed));
      value = arena_unit_dup_value (unit, NULL);
      g_assert_cmpint (value != NULL, ==, i != 0);
      g_assert_true (value == NULL || arena_test_check_pattern (g_variant_get_data (value), 9000, seed));
    }
}

/* Also where only the table is too long; without an arena small fields have nowhere else to go. */
static void
test_long_table (void)
{
  for (guint with_arena = 0; with_arena < 2; with_arena++)
    {
      g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (with_arena ? 65536 : 0, 1024, 1024);
      g_autoptr (ArenaUnit) unit = NULL;

      arena_loopback_open (loop);
      for (guint i = 0; i < 300; i++)
        arena_loopback_bytes (loop, "some name", 20, i);
      unit = arena_loopback_send (loop);
      g_assert_cmpuint (loop->published_size, >, 10000);
      for (guint i = 0; i < 300; i++)
        assert_field (unit, i, 20, i);
    }
}

/* The envelope grew for a field that then failed: it goes into its slot after all, and nothing is sent. */
static void
test_grown_in_vain (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, 1024, 64);
  g_autofree char *name = g_strnfill (1000, 'x');
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  guint8 data[100] = { 0 };

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "a", 20, 1);
  g_set_error_literal (&loop->fail_acquire, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "busy");
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, name, ARENA_DTYPE_UINT8, (guint64[]) { 100 }, 1,
                                                      (guintptr) data, 100, NULL, 0, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_nonnull (loop->builder->encoder.heap);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (loop->n_sent, ==, 0);
  g_assert_cmpuint (loop->published_size, <, 1024);
  assert_field (unit, 0, 20, 1);
}

/* Where it was waited in vain, nothing has happened, and the unit may even grow; where it could not be sent, nothing is
 * left. */
static void
test_failures (void)
{
  const struct { GQuark domain; int code; } vain[] = {
    { ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK },
    { ARENA_ERROR, ARENA_ERROR_TIMED_OUT },
    { ARENA_ERROR, ARENA_ERROR_BUSY },
    { G_IO_ERROR, G_IO_ERROR_CANCELLED },
  };
  static const guint8 payload[5000]; /* an envelope that outgrows its slot */
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, 2000, 1);
  arena_loopback_bytes (loop, NULL, CAPACITY + 1, 2);
  g_assert_true (arena_unit_builder_set_payload (loop->builder, "", payload, sizeof payload, &error));
  for (guint i = 0; i < G_N_ELEMENTS (vain); i++)
    {
      g_set_error_literal (&loop->fail_send, vain[i].domain, vain[i].code, "full");
      g_assert_false (arena_unit_builder_commit (loop->builder, &error));
      arena_test_assert_error (error, vain[i].domain, vain[i].code);
      g_assert_true (arena_unit_builder_is_open (loop->builder));
      arena_loopback_bytes (loop, NULL, i % 2 == 0 ? CAPACITY + 2 : 21, 3 + i);
    }
  unit = arena_loopback_send (loop);
  assert_field (unit, 0, 2000, 1);
  assert_field (unit, 1, CAPACITY + 1, 2);
  for (guint i = 0; i < G_N_ELEMENTS (vain); i++)
    assert_field (unit, 2 + i, i % 2 == 0 ? CAPACITY + 2 : 21, 3 + i);
  g_clear_object (&unit);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, 2000, 1);
  arena_loopback_bytes (loop, NULL, CAPACITY + 1, 2);
  g_set_error_literal (&loop->fail_send, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "in flight");
  g_assert_false (arena_unit_builder_commit (loop->builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);
  g_assert_false (arena_unit_builder_is_open (loop->builder));
  g_assert_cmpuint (loop->n_abandoned, ==, 1);
  g_assert_cmpuint (loop->writer->n_aborted, ==, 1);
  g_assert_cmpuint (loop->n_published, ==, 1);
  g_assert_cmpint (loop->builder->spill.fd, ==, -1);
}

/* However often it was tried, what is sent is the same. */
static void
test_vain_commits (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  gsize sizes[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (ArenaUnit) unit = NULL;

      arena_loopback_open (loop);
      arena_loopback_bytes (loop, "x", CAPACITY + 1, 1);
      for (guint n = 0; n < 10 * i; n++)
        {
          g_set_error_literal (&loop->fail_send, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "full");
          g_assert_false (arena_unit_builder_commit (loop->builder, NULL));
        }
      unit = arena_loopback_send (loop);
      assert_field (unit, 0, CAPACITY + 1, 1);
      sizes[i] = loop->published_size;
      g_assert_cmpuint (g_bytes_get_size (loop->outside), ==, CAPACITY + 1);
    }
  g_assert_cmpuint (sizes[0], ==, sizes[1]);
}

/* A field for which there is no memory is as if it had never been asked for. */
static int
without_memory (gpointer data G_GNUC_UNUSED)
{
  const struct rlimit limits = { 3 * CAPACITY, 3 * CAPACITY };
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *bytes = g_malloc0 (4 * CAPACITY);
  const guint64 shape[] = { 4 * CAPACITY };

  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limits));
  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, CAPACITY + 1, 1);
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, NULL, ARENA_DTYPE_UINT8, shape, 1, (guintptr) bytes,
                                                      4 * CAPACITY, NULL, 0, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_FSIZE", "24576");
  g_assert_null (arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_UINT8, shape, 1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_FSIZE");
  g_assert_null (arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { G_MAXINT64 - 63 }, 1,
                                             NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_FSIZE");
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 1);
  assert_field (unit, 0, CAPACITY + 1, 1);
  return 0;
}

static void
test_without_memory (void)
{
  arena_test_assert_child (without_memory, NULL);
}

static void
test_abort (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (CAPACITY, ENVELOPE, 1024);
  g_autoptr (GBytes) bytes = NULL;
  const guint64 shape[] = { CAPACITY + 1 };

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, CAPACITY + 1, 1);
  bytes = arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_UINT8, shape, 1, NULL, NULL);
  arena_unit_builder_abort (loop->builder);
  g_assert_cmpint (loop->builder->spill.fd, ==, -1);
  g_assert_cmpuint (loop->n_sent, ==, 0);
  memset ((gpointer) g_bytes_get_data (bytes, NULL), 0, CAPACITY + 1);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/unit-builder-spill/what-has-no-room", test_what_has_no_room);
  arena_test_add ("/arena/unit-builder-spill/usual-unit", test_usual_unit);
  arena_test_add ("/arena/unit-builder-spill/reserve", test_reserve);
  arena_test_add ("/arena/unit-builder-spill/long-envelope", test_long_envelope);
  arena_test_add ("/arena/unit-builder-spill/long-table", test_long_table);
  arena_test_add ("/arena/unit-builder-spill/grown-in-vain", test_grown_in_vain);
  arena_test_add ("/arena/unit-builder-spill/failures", test_failures);
  arena_test_add ("/arena/unit-builder-spill/vain-commits", test_vain_commits);
  arena_test_add ("/arena/unit-builder-spill/without-memory", test_without_memory);
  arena_test_add ("/arena/unit-builder-spill/abort", test_abort);
  return g_test_run ();
}
