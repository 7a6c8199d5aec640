/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

#include <string.h>

/* Whatever is appended comes back: data type, shape, strides, name, bytes, value and payload, whether a field went
 * inline, to the arena or nowhere. A field that doesn't fit leaves the unit as it was. */

#define N_UNITS    1000
#define MAX_FIELDS 40
#define MAX_SIZE   3000

static const ArenaDType dtypes[] = {
  ARENA_DTYPE_INT8, ARENA_DTYPE_INT16, ARENA_DTYPE_UINT32, ARENA_DTYPE_INT64, ARENA_DTYPE_FLOAT16,
  ARENA_DTYPE_BFLOAT16, ARENA_DTYPE_COMPLEX128, ARENA_DTYPE_BOOL,
};

typedef struct
{
  char name[16];
  gboolean named;
  ArenaDType dtype;
  guint64 shape[4];
  gint64 strides[4];
  gsize n_dims;
  gboolean strided;
  gsize size;
  guint64 seed;
} Expected;

static guint
pick (guint below)
{
  return (guint) g_test_rand_int_range (0, (gint32) below);
}

static void
draw (Expected *self)
{
  guint item_size;

  self->named = pick (2) == 0;
  g_snprintf (self->name, sizeof self->name, "n%u", pick (100));
  self->dtype = dtypes[pick (G_N_ELEMENTS (dtypes))];
  item_size = arena_dtype_get_item_size (self->dtype);
  self->n_dims = pick (5);
  self->seed = pick (G_MAXINT32);
  do
    {
      self->size = item_size;
      for (gsize i = 0; i < self->n_dims; i++)
        self->size *= self->shape[i] = pick (12) == 0 ? 0 : 1 + pick (pick (3) == 0 ? 40 : 5);
    }
  while (self->size > MAX_SIZE);

  /* Fortran order, with a gap at the end: never C order, since that has none. */
  self->strided = self->size > 0 && self->n_dims > 1 && pick (3) == 0;
  if (self->strided)
    {
      self->size = item_size;
      for (gsize i = 0; i < self->n_dims; i++)
        {
          self->strides[i] = (gint64) self->size;
          self->size *= self->shape[i];
        }
      self->size += 1 + pick (20);
    }
}

static gboolean
append (ArenaLoopback *loop,
        Expected      *expected)
{
  g_autofree guint8 *data = g_malloc (expected->size + 1);
  const char *name = expected->named ? expected->name : NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gboolean success;

  arena_test_fill_pattern (data, expected->size, expected->seed);
  if (expected->strided || pick (3) == 0)
    success = arena_unit_builder_append_address (loop->builder, name, expected->dtype, expected->shape,
                                                 expected->n_dims,
                                                 (guintptr) data, expected->size,
                                                 expected->strided ? expected->strides : NULL,
                                                 expected->strided ? expected->n_dims : 0, &error) >= 0;
  else if (pick (2) == 0)
    {
      bytes = g_bytes_new (data, expected->size);
      success = arena_unit_builder_append_bytes (loop->builder, name, expected->dtype, expected->shape,
                                                 expected->n_dims, bytes, &error) >= 0;
    }
  else
    {
      bytes = arena_unit_builder_reserve (loop->builder, name, expected->dtype, expected->shape, expected->n_dims,
                                          NULL, &error);
      success = bytes != NULL;
      if (success && expected->size > 0)
        memcpy ((gpointer) g_bytes_get_data (bytes, NULL), data, expected->size);
    }

  if (!success)
    g_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);
  return success;
}

static void
check_field (ArenaUnit      *unit,
             guint           index,
             const Expected *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaField) field = arena_unit_dup_field (unit, index, &error);
  g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, index, &error);
  gsize n_dims, n_strides, size;
  const guint64 *shape = arena_field_get_shape (field, &n_dims);
  const gint64 *strides = arena_field_get_byte_strides (field, &n_strides);
  const guint8 *data = g_bytes_get_data (view, &size);

  g_assert_no_error (error);
  g_assert_cmpstr (arena_field_get_name (field), ==, expected->named ? expected->name : NULL);
  g_assert_cmpint (arena_field_get_dtype (field), ==, expected->dtype);
  g_assert_cmpmem (shape, n_dims * 8, expected->shape, expected->n_dims * 8);
  g_assert_cmpuint (n_strides, ==, expected->strided ? expected->n_dims : 0);
  g_assert_cmpmem (strides, n_strides * 8, expected->strides, n_strides * 8);
  g_assert_cmpuint (size, ==, expected->size);
  g_assert_cmpuint (arena_field_get_size (field), ==, expected->size);
  g_assert_nonnull (data);
  g_assert_cmpuint ((guintptr) data % 16, ==, 0);
  g_assert_true (arena_test_check_pattern (data, size, expected->seed));
}

static void
round_trip (ArenaLoopback *loop)
{
  Expected expected[MAX_FIELDS] = { 0 };
  guint n_wanted = pick (MAX_FIELDS + 1);
  guint n_fields = 0;
  gint64 value = g_test_rand_int_range (-1000, 1000);
  gsize payload_size = pick (2) == 0 ? pick (600) : 0;
  g_autofree guint8 *payload = g_malloc0 (payload_size + 1);
  g_autofree guint8 *again = NULL;
  g_autofree char *content_type = NULL;
  g_autoptr (GVariant) got = NULL;
  g_autoptr (ArenaUnit) unit = NULL;
  gsize again_size;

  arena_loopback_open (loop);
  arena_test_fill_pattern (payload, payload_size, 77);
  if (value >= 0)
    g_assert_true (arena_unit_builder_set_value (loop->builder, g_variant_new ("(sx)", "value", value), NULL));
  if (payload_size > 0)
    g_assert_true (arena_unit_builder_set_payload (loop->builder, "p", payload, payload_size, NULL));
  for (guint i = 0; i < n_wanted; i++)
    {
      draw (&expected[n_fields]);
      if (append (loop, &expected[n_fields]))
        n_fields++;
    }

  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, n_fields);
  for (guint i = 0; i < n_fields; i++)
    check_field (unit, i, &expected[i]);

  got = arena_unit_dup_value (unit, NULL);
  g_assert_cmpint (got != NULL, ==, value >= 0);
  again = arena_unit_copy_payload (unit, &again_size, &content_type, NULL);
  g_assert_cmpstr (content_type, ==, payload_size > 0 ? "p" : NULL);
  g_assert_cmpmem (again, again_size, payload, payload_size);
}

static void
run (gsize   capacity,
     guint64 threshold)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (capacity, 4096, threshold);

  for (guint i = 0; i < N_UNITS; i++)
    round_trip (loop);
}

static void
test_mixed (void)
{
  run (20000, 512);
}

static void
test_all_to_storage (void)
{
  run (60000, 0);
}

static void
test_no_arena (void)
{
  run (0, 512);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/random-units-round-trip/mixed", test_mixed);
  arena_test_add ("/arena/behaviour/random-units-round-trip/all-to-storage", test_all_to_storage);
  arena_test_add ("/arena/behaviour/random-units-round-trip/no-arena", test_no_arena);
  return g_test_run ();
}
