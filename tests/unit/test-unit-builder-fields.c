/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-builder-private.h"

#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

#include <string.h>

#define CAPACITY  65536
#define ENVELOPE  4096
#define THRESHOLD 1024
#define TWO_TO(n) (G_GUINT64_CONSTANT (1) << (n))

static ArenaLoopback *
open_loopback (gsize capacity)
{
  ArenaLoopback *loop = arena_loopback_new (capacity, ENVELOPE, THRESHOLD);

  arena_loopback_open (loop);
  return loop;
}

static gint
append (ArenaLoopback *loop,
        guint          dtype,
        const guint64 *shape,
        gsize          n_dims,
        gsize          size,
        GError       **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (size), size);

  return arena_unit_builder_append_bytes (loop->builder, "f", (ArenaDType) dtype, shape, n_dims, bytes, error);
}

static void
test_arguments (void)
{
  const struct
  {
    guint dtype;
    guint64 shape[2];
    gsize n_dims;
    gsize size;
    const char *text; /* NULL: it is right */
  } table[] = {
    { ARENA_DTYPE_FLOAT32, { 2, 3 }, 2, 24, NULL },
    { ARENA_DTYPE_FLOAT32, { 0 }, 0, 4, NULL },
    { ARENA_DTYPE_FLOAT32, { 0, 3 }, 2, 0, NULL },
    { ARENA_DTYPE_FLOAT32, { 2, 3 }, 2, 23, "24 bytes, its data 23" },
    { ARENA_DTYPE_FLOAT32, { 2, 3 }, 2, 25, "24 bytes, its data 25" },
    { ARENA_DTYPE_FLOAT32, { 2, 3 }, 2, 0, "24 bytes, its data 0" },
    { ARENA_DTYPE_FLOAT32, { 0 }, 0, 0, "4 bytes, its data 0" },
    { ARENA_DTYPE_FLOAT32, { 0, 3 }, 2, 4, "0 bytes, its data 4" },
    { 0, { 2, 3 }, 2, 24, "0x0 is not a data type" },
    { 0x022004, { 2, 3 }, 2, 96, "0x22004" },
    { ARENA_DTYPE_FLOAT32, { TWO_TO (62), 2 }, 2, 24, "9223372036854775807" },
    { ARENA_DTYPE_FLOAT32, { G_MAXUINT64, 0 }, 2, 0, "9223372036854775807" },
  };

  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  gint n_added = 0;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (GError) error = NULL;
      gint index = append (loop, table[i].dtype, table[i].shape, table[i].n_dims, table[i].size, &error);

      g_test_message ("row %u", i);
      if (table[i].text == NULL)
        {
          g_assert_no_error (error);
          g_assert_cmpint (index, ==, n_added++);
          continue;
        }
      g_assert_cmpint (index, ==, -1);
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "field 3 \"f\"", table[i].text);
    }
}

static void
test_limits (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, 1 << 20, THRESHOLD);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) none = g_bytes_new (NULL, 0);
  g_autofree char *longest = g_strnfill (1024, 'n');
  g_autofree char *longer = g_strnfill (1025, 'n');
  guint64 shape[33] = { 0 };

  arena_loopback_open (loop);
  for (guint i = 0; i < 33; i++)
    shape[i] = i == 32 ? 0 : 1;
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 32, 1, &error), ==, 0);
  g_assert_no_error (error);
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 33, 0, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "33", "32");

  g_assert_cmpint (arena_unit_builder_append_bytes (loop->builder, longest, ARENA_DTYPE_INT8, &shape[32], 1, none,
                                                    &error), ==, 1);
  g_assert_no_error (error);
  g_assert_cmpint (arena_unit_builder_append_bytes (loop->builder, longer, ARENA_DTYPE_INT8, &shape[32], 1, none,
                                                    &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "1025", "1024");
  g_assert_cmpint (arena_unit_builder_append_bytes (loop->builder, "\xc3\x28", ARENA_DTYPE_INT8, &shape[32], 1, none,
                                                    &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "UTF-8");

  for (guint i = 2; i < 4096; i++)
    g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, NULL, 0, 1, NULL), ==, i);
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, NULL, 0, 1, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "4096");
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 4096);
  g_assert_cmpint (arena_unit_find_field (unit, longest), ==, 1);
}

static void
test_threshold (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_bytes (loop, NULL, THRESHOLD - 1, 1);
  g_assert_cmpuint (loop->n_acquired, ==, 0);
  arena_loopback_bytes (loop, NULL, THRESHOLD, 2);
  g_assert_cmpuint (loop->n_acquired, ==, 1);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (loop->size, ==, THRESHOLD);
}

/* Small fields leave a quarter of the envelope for descriptions; the next ones go to the arena. */
static void
test_overflow_to_storage (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (ArenaUnit) unit = NULL;

  for (guint i = 0; i < 30; i++)
    arena_loopback_bytes (loop, "leaf", 200, i);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (loop->n_acquired, ==, 1);
  g_assert_cmpuint (loop->writer->n_writes, >, 15);
  g_assert_cmpuint (loop->writer->n_writes, <, 20);

  for (guint i = 0; i < 30; i++)
    {
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpuint (g_bytes_get_size (view), ==, 200);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), 200, i));
    }
}

/* Without an arena everything is inline, whatever its size; and what is too much is refused with both numbers. */
static void
test_no_writer (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (0);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GBytes) view = NULL;
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 4096 };

  arena_loopback_bytes (loop, "x", 3900, 1);
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 1, 4096, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "4096");
  g_assert_null (arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_INT8, (guint64[]) { TWO_TO (62) }, 1,
                                             NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "4096");
  unit = arena_loopback_send (loop);
  view = arena_unit_dup_bytes (unit, 0, NULL);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), 3900, 1));
}

/* Descriptions have no other place than the envelope: the one that doesn't fit is refused, and what stands there can
 * still be committed. */
static void
test_full_envelope (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  while (append (loop, ARENA_DTYPE_INT8, (guint64[]) { 8 }, 1, 8, &error) >= 0)
    n++;
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "4096");
  g_assert_cmpuint (n, >, 64);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (loop->published_size, >, ENVELOPE - 64);
  g_assert_cmpuint (loop->published_size, <=, ENVELOPE);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, n);
}

static void
assert_retry (ArenaLoopback *loop,
              GQuark         domain,
              int            code)
{
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 2000 };
  guint before = loop->n_acquired;

  loop->fail_acquire = g_error_new_literal (domain, code, "told to fail");
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 1, 2000, &error), ==, -1);
  g_assert_error (error, domain, code);
  g_assert_cmpuint (loop->n_acquired, ==, before);
  g_assert_true (arena_unit_builder_is_open (loop->builder));
}

static void
test_retry_acquire (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (ArenaUnit) unit = NULL;

  assert_retry (loop, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  assert_retry (loop, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  assert_retry (loop, ARENA_ERROR, ARENA_ERROR_BUSY);
  assert_retry (loop, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (arena_loopback_bytes (loop, "x", 2000, 9), ==, 0);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 1);
  g_assert_cmpuint (loop->n_acquired, ==, 1);
}

static void
test_retry_write (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 2000 };

  loop->writer->fail_write = ARENA_ERROR_WOULD_BLOCK + 1;
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 1, 2000, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  loop->writer->fail_write = ARENA_ERROR_BUSY + 1;
  g_assert_null (arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_INT8, shape, 1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);

  arena_loopback_bytes (loop, "x", 2000, 9);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (loop->n_acquired, ==, 1);
  g_assert_cmpuint (loop->size, ==, 2000);
}

/* Two fields that fit singly but not together; the unit goes on without the second (F05). */
static void
test_too_large (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (4096);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 2049 };

  arena_loopback_bytes (loop, "x", 2049, 9);
  g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 1, 2049, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 1);
}

static void
test_bad_writer (void)
{
  const int shifts[] = { 1, 32, -2048 };

  for (guint i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
      g_autoptr (GError) error = NULL;
      const guint64 shape[] = { 2000 };

      arena_loopback_bytes (loop, "x", 2000, 9);
      loop->writer->shift = shifts[i];
      g_assert_cmpint (append (loop, ARENA_DTYPE_INT8, shape, 1, 2000, &error), ==, -1);
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "field 1");
    }
}

static void
test_address (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autofree guint8 *data = g_malloc (2000);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 1000 };
  const guint64 small[] = { 5 };

  arena_test_fill_pattern (data, 2000, 3);
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, "a", ARENA_DTYPE_INT16, shape, 1, (guintptr) data,
                                                      2000, NULL, 0, &error), ==, 0);
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, "b", ARENA_DTYPE_INT16, small, 1, (guintptr) data,
                                                      10, NULL, 0, &error), ==, 1);
  g_assert_no_error (error);
  memset (data, 0, 2000);
  unit = arena_loopback_send (loop);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpuint (g_bytes_get_size (view), ==, i == 0 ? 2000 : 10);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), g_bytes_get_size (view), 3));
    }
}

static void
test_bad_address (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 8 };
  const guint64 none[] = { 0 };

  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, NULL, ARENA_DTYPE_INT8, shape, 1, 0, 8, NULL, 0,
                                                      &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "address 0x0");
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, NULL, ARENA_DTYPE_INT8, shape, 1, G_MAXUINT64 - 6,
                                                      8, NULL, 0, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "address");
  g_assert_cmpint (arena_unit_builder_append_address (loop->builder, NULL, ARENA_DTYPE_INT8, none, 1, 0, 0, NULL, 0,
                                                      &error), ==, 0);
  g_assert_no_error (error);
}

static void
test_strides (void)
{
  const struct
  {
    guint64 shape[2];
    gint64 strides[2];
    gsize n_strides;
    gsize size;
    gboolean kept; /* FALSE: they are C order */
    const char *text;
  } table[] = {
    { { 2, 3 }, { 12, 4 }, 2, 24, FALSE, NULL },
    { { 2, 3 }, { 4, 8 }, 2, 24, TRUE, NULL },
    { { 2, 3 }, { 4, 8 }, 2, 30, TRUE, NULL },
    { { 2, 3 }, { 0, 0 }, 2, 4, TRUE, NULL },
    { { 2, 3 }, { 16, 4 }, 2, 28, TRUE, NULL },
    { { 2, 3 }, { 12, 4 }, 2, 28, TRUE, NULL },
    { { 1, 3 }, { -1, 4 }, 2, 12, FALSE, NULL },
    { { 0, 3 }, { 12, 4 }, 2, 0, FALSE, NULL },
    { { 0, 3 }, { 12, 4 }, 2, 4, FALSE, "0 bytes, its data 4" },
    { { 2, 3 }, { 4, 8 }, 2, 23, FALSE, "reach 24 bytes, it has 23" },
    { { 2, 3 }, { 12, 4 }, 2, 23, FALSE, "reach 24 bytes, it has 23" },
    { { 2, 3 }, { -12, 4 }, 2, 24, FALSE, "before its first byte" },
    { { 2, 3 }, { G_MAXINT64, G_MAXINT64 }, 2, 24, FALSE, "too far" },
    { { 2, 3 }, { 4 }, 1, 24, FALSE, "1 strides for 2 dimensions" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
      g_autoptr (GError) error = NULL;
      g_autoptr (ArenaUnit) unit = NULL;
      g_autoptr (ArenaField) field = NULL;
      const guint8 data[30] = { 1, 2, 3 };
      gsize n_strides;

      g_test_message ("row %u", i);
      if (arena_unit_builder_append_address (loop->builder, "s", ARENA_DTYPE_INT32, table[i].shape, 2, (guintptr) data,
                                             table[i].size, table[i].strides, table[i].n_strides, &error) < 0)
        {
          g_assert_nonnull (table[i].text);
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, table[i].text);
          continue;
        }

      g_assert_null (table[i].text);
      unit = arena_loopback_send (loop);
      field = arena_unit_dup_field (unit, 0, NULL);
      g_assert_cmpuint (arena_field_get_size (field), ==, table[i].size);
      g_assert_cmpint (arena_field_get_byte_strides (field, &n_strides) != NULL, ==, table[i].kept);
      if (table[i].kept)
        g_assert_cmpmem (arena_field_get_byte_strides (field, &n_strides), n_strides * 8, table[i].strides, 16);
    }
}

/* Buffers are filled after more was appended, and one outlives the unit. */
static void
test_reserve (void)
{
  const gsize sizes[] = { 100, 5000, 0, 101 };
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (ArenaUnit) unit = NULL;
  GBytes *buffers[4];

  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GError) error = NULL;
      guint index = 99;

      buffers[i] = arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { sizes[i] }, 1,
                                               &index, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (index, ==, i);
      g_assert_cmpuint (g_bytes_get_size (buffers[i]), ==, sizes[i]);
    }
  for (guint i = 0; i < 4; i++)
    if (sizes[i] > 0)
      arena_test_fill_pattern ((gpointer) g_bytes_get_data (buffers[i], NULL), sizes[i], i);

  unit = arena_loopback_send (loop);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpuint (g_bytes_get_size (view), ==, sizes[i]);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), sizes[i], i));
      g_bytes_unref (buffers[i]);
    }
}

/* Nothing that another unit left in memory is in a small buffer. */
static void
test_reserve_is_clean (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback (CAPACITY);
  g_autoptr (GBytes) buffer = NULL;
  const guint8 zeros[100] = { 0 };

  buffer = arena_unit_builder_reserve (loop->builder, NULL, ARENA_DTYPE_UINT8, (guint64[]) { 100 }, 1, NULL, NULL);
  g_assert_cmpmem (g_bytes_get_data (buffer, NULL), g_bytes_get_size (buffer), zeros, 100);
  arena_unit_builder_abort (loop->builder);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/unit-builder-fields/arguments", test_arguments);
  arena_test_add ("/arena/unit-builder-fields/limits", test_limits);
  arena_test_add ("/arena/unit-builder-fields/threshold", test_threshold);
  arena_test_add ("/arena/unit-builder-fields/overflow-to-storage", test_overflow_to_storage);
  arena_test_add ("/arena/unit-builder-fields/no-writer", test_no_writer);
  arena_test_add ("/arena/unit-builder-fields/full-envelope", test_full_envelope);
  arena_test_add ("/arena/unit-builder-fields/retry-acquire", test_retry_acquire);
  arena_test_add ("/arena/unit-builder-fields/retry-write", test_retry_write);
  arena_test_add ("/arena/unit-builder-fields/too-large", test_too_large);
  arena_test_add ("/arena/unit-builder-fields/bad-writer", test_bad_writer);
  arena_test_add ("/arena/unit-builder-fields/address", test_address);
  arena_test_add ("/arena/unit-builder-fields/bad-address", test_bad_address);
  arena_test_add ("/arena/unit-builder-fields/strides", test_strides);
  arena_test_add ("/arena/unit-builder-fields/reserve", test_reserve);
  arena_test_add ("/arena/unit-builder-fields/reserve-is-clean", test_reserve_is_clean);
  return g_test_run ();
}
