/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "base/arena-error.h"
#include "fuzz.h"

#include <string.h>

/* Whatever an envelope says: a PROTOCOL error, or a unit every part of which can be read, and which lies within the
 * storage and spill that came with it. An input is the sizes of those as two u16, padded to 8 bytes, and the envelope. */

#define PREFIX 8

const char fuzz_name[] = "envelope";

static guint64
sum (gconstpointer data,
     gsize         size)
{
  const guint8 *bytes = data;
  guint64 total = 0;

  for (gsize i = 0; i < size; i++)
    total += bytes[i];
  return total;
}

/* A C program's inner loop over a strided field: every item it is told of must be there. */
static void
check_strides (const ArenaField *field,
               gsize             size)
{
  gsize n_dims, n_strides;
  const guint64 *shape = arena_field_get_shape (field, &n_dims);
  const gint64 *strides = arena_field_get_byte_strides (field, &n_strides);
  guint item_size = arena_dtype_get_item_size (arena_field_get_dtype (field));
  guint64 last = item_size;

  g_assert_cmpuint (item_size, >, 0);
  g_assert_cmpuint (n_dims, <=, 32);
  if (n_strides == 0)
    return;

  g_assert_cmpuint (n_strides, ==, n_dims);
  for (gsize i = 0; i < n_dims; i++)
    {
      g_assert_cmpuint (shape[i], >, 0);
      if (shape[i] == 1)
        continue;
      g_assert_cmpint (strides[i], >=, 0);
      g_assert_true (strides[i] == 0 || shape[i] - 1 <= size / (guint64) strides[i]);
      last += (shape[i] - 1) * (guint64) strides[i];
    }
  g_assert_cmpuint (last, <=, size);
}

static guint64
read_field (ArenaUnit *unit,
            guint      index)
{
  g_autoptr (ArenaField) field = arena_unit_dup_field (unit, index, NULL);
  g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, index, NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (view, &size);
  const char *name = arena_field_get_name (field);

  g_assert_cmpuint (arena_field_get_size (field), ==, size);
  check_strides (field, size);
  if (name != NULL)
    {
      g_assert_true (g_utf8_validate (name, -1, NULL));
      g_assert_cmpint (arena_unit_find_field (unit, name), <=, (gint) index);
    }

  return sum (data, size);
}

static void
read_unit (ArenaUnit *unit)
{
  g_autoptr (GVariant) value = arena_unit_dup_value (unit, NULL);
  g_autofree char *content_type = NULL;
  g_autofree guint8 *payload = NULL;
  gsize n_bytes;

  for (guint i = 0; i < arena_unit_get_n_fields (unit); i++)
    read_field (unit, i);

  if (value != NULL)
    {
      g_autofree char *text = g_variant_print (value, TRUE);

      g_assert_nonnull (text);
    }
  payload = arena_unit_copy_payload (unit, &n_bytes, &content_type, NULL);
  sum (payload, n_bytes);
  g_assert_cmpint (payload != NULL, ==, content_type != NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaUnit) unit = NULL;
  GBytes *storage = NULL;
  GBytes *spill = NULL;
  guint16 sizes[2];

  if (size < PREFIX)
    return 0;

  memcpy (sizes, data, sizeof sizes);
  if (sizes[0] > 0)
    storage = g_bytes_new_take (g_malloc0 (sizes[0]), sizes[0]);
  if (sizes[1] > 0)
    spill = g_bytes_new_take (g_malloc0 (sizes[1]), sizes[1]);
  unit = arena_unit_new (1, 1, g_memdup2 (data + PREFIX, size - PREFIX), size - PREFIX, storage, spill,
                         &error);
  if (unit == NULL)
    g_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
  else
    read_unit (unit);

  return 0;
}

static GBytes *
seed_from (ArenaLoopback *loop)
{
  guint16 sizes[PREFIX / sizeof (guint16)] = { 0 };
  guint8 *seed;

  g_assert_true (arena_unit_builder_commit (loop->builder, NULL));
  sizes[0] = (guint16) loop->size;
  sizes[1] = (guint16) loop->spill_size;
  seed = g_malloc (PREFIX + loop->published_size);
  memcpy (seed, sizes, PREFIX);
  memcpy (seed + PREFIX, loop->envelope, loop->published_size);
  return g_bytes_new_take (seed, PREFIX + loop->published_size);
}

GPtrArray *
fuzz_seeds (void)
{
  GPtrArray *seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (ArenaLoopback) loop = arena_loopback_new_spilling (20000, 1024, 64);
  const guint8 data[200] = { 1, 2, 3 };

  arena_loopback_open (loop);
  g_ptr_array_add (seeds, seed_from (loop));

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "a", 10, 1);
  g_ptr_array_add (seeds, seed_from (loop));

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "x", 100, 1);
  arena_loopback_bytes (loop, NULL, 0, 1);
  arena_unit_builder_append_address (loop->builder, "f", ARENA_DTYPE_INT16, (guint64[]) { 3, 4 }, 2, (guintptr) data,
                                     24, (gint64[]) { 2, 6 }, 2, NULL);
  arena_unit_builder_append_address (loop->builder, "g", ARENA_DTYPE_INT32, (guint64[]) { 5, 9 }, 2, (guintptr) data,
                                     190, (gint64[]) { 4, 20 }, 2, NULL);
  g_ptr_array_add (seeds, seed_from (loop));

  arena_loopback_open (loop);
  arena_unit_builder_set_value (loop->builder, g_variant_new_parsed ("{'k': <[1, 2]>, 'l': <('m', 2.5)>}"), NULL);
  arena_loopback_bytes (loop, NULL, 20, 1);
  arena_unit_builder_set_payload (loop->builder, "t/p", data, 30, NULL);
  arena_loopback_bytes (loop, "z", 1000, 1);
  arena_loopback_bytes (loop, "z", 30, 1);
  g_ptr_array_add (seeds, seed_from (loop));

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "in", 15000, 1);
  arena_loopback_bytes (loop, "out", 6000, 1);
  arena_loopback_bytes (loop, NULL, 21000, 1);
  g_ptr_array_add (seeds, seed_from (loop));

  return seeds;
}
