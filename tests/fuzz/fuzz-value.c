/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"
#include "unit/arena-value-private.h"

#include <string.h>

/* Whatever bytes a value has: it is refused, or every node can be reached within the depth and every handle is counted. An
 * input is a type string with its NUL, padded to 8 bytes, and the value. */

const char fuzz_name[] = "value";

static void
visit (GVariant *value,
       guint     depth,
       guint     n_fields)
{
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_HANDLE))
    {
      g_assert_cmpint (g_variant_get_handle (value), >=, 0);
      g_assert_cmpint (g_variant_get_handle (value), <, n_fields);
    }
  if (!g_variant_is_container (value))
    return;

  g_assert_cmpuint (depth, <, ARENA_MAX_VALUE_DEPTH);
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      visit (child, depth + 1, n_fields);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  const guint8 *end = size > 0 ? memchr (data, '\0', size) : NULL;
  g_autoptr (GVariant) value = NULL;
  guint n_fields;
  gsize start;

  if (end == NULL || !g_variant_type_string_is_valid ((const char *) data) ||
      !g_variant_type_is_definite (G_VARIANT_TYPE ((const char *) data)))
    return 0;

  start = MIN (((gsize) (end - data) + 8) / 8 * 8, size);
  value = g_variant_ref_sink (g_variant_new_from_data (G_VARIANT_TYPE ((const char *) data), data + start, size - start,
                                                       FALSE, NULL, NULL));
  if (arena_value_check (value, &n_fields) == NULL)
    visit (value, 0, n_fields);
  return 0;
}

GPtrArray *
fuzz_seeds (void)
{
  const char *const texts[] = { "5", "[handle 1, handle 2]", "{'k': <[1, 2]>, 'l': <('m', handle 3)>}", "<<<<handle 1>>>>",
                                "[('a', @mh 3), ('b', nothing)]", "@a{sv} {}" };
  GPtrArray *seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_parsed (texts[i]));
      gsize type_size = (strlen (g_variant_get_type_string (value)) + 8) / 8 * 8;
      gsize size = type_size + g_variant_get_size (value);
      guint8 *seed = g_malloc0 (size);

      memcpy (seed, g_variant_get_type_string (value), strlen (g_variant_get_type_string (value)));
      g_variant_store (value, seed + type_size);
      g_ptr_array_add (seeds, g_bytes_new_take (seed, size));
    }
  return seeds;
}
