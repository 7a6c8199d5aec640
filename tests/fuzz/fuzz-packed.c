/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-record.h"
#include "base/arena-error.h"
#include "fuzz.h"

/* Whatever a record says: an INVALID_ARGUMENT that says why, or fields whose words, names and bytes in the record can all
 * be read. Addresses are only compared: they mean this process's memory, which no check can know. */

const char fuzz_name[] = "packed";

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

static void
read_field (const ArenaPackedField *field,
            gsize                   size)
{
  g_assert_cmpuint (arena_dtype_get_item_size ((ArenaDType) field->dtype), >, 0);
  g_assert_cmpuint (field->n_dims, <=, ARENA_MAX_DIMS);
  g_assert_cmpuint (field->next, <=, size);
  g_assert_cmpuint (field->next_name, <=, size);
  if (field->name != NULL)
    g_assert_true (g_utf8_validate (field->name, -1, NULL));
  if ((field->flags & ARENA_PACKED_IN_RECORD) != 0 && field->size > 0)
    sum (GSIZE_TO_POINTER (field->address), (gsize) field->size);
  else if (field->size > 0)
    g_assert_cmpuint (field->address - 1 + field->size, >=, field->address);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (GError) error = NULL;
  ArenaPackedField field = { 0 };
  ArenaPackedRecord packed;

  if (!arena_packed_record_init (&packed, data, size, 64, &error))
    g_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  else
    {
      for (guint i = 0; i < packed.n_fields; i++)
        {
          arena_packed_field_next (&field, &packed);
          read_field (&field, size);
        }
      sum (packed.payload, packed.payload_size);
      if (packed.value != NULL)
        g_free (g_variant_print (packed.value, TRUE));
    }

  arena_packed_record_clear (&packed);
  return 0;
}

GPtrArray *
fuzz_seeds (void)
{
  GPtrArray *seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (ArenaRecord) empty = arena_record_new ();
  g_autoptr (ArenaRecord) fields = arena_record_new ();
  g_autoptr (ArenaRecord) all = arena_record_new ();

  g_ptr_array_add (seeds, arena_record_end (empty));

  arena_record_field (fields, "x", ARENA_DTYPE_FLOAT32, (guint64[]) { 5, 2 }, 2, NULL, seeds, 40);
  arena_record_field (fields, NULL, ARENA_DTYPE_INT16, (guint64[]) { 3, 4 }, 2, (gint64[]) { 2, 6 }, seeds, 24);
  arena_record_field (fields, "z", ARENA_DTYPE_INT8, (guint64[]) { 0 }, 1, NULL, NULL, 0);
  g_ptr_array_add (seeds, arena_record_end (fields));

  arena_record_inline (all, "in", "abcdef", 6);
  arena_record_field (all, NULL, ARENA_DTYPE_FLOAT64, NULL, 0, NULL, seeds, 8);
  arena_record_payload (all, "t/p", "payload", 7);
  arena_record_value (all, g_variant_new_parsed ("{'k': <[1, 2]>, 'l': <('m', 2.5)>}"));
  g_ptr_array_add (seeds, arena_record_end (all));
  return seeds;
}
