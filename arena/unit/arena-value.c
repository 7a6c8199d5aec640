/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-value-private.h"

#include <string.h>

/* A value is walked once, by either end, and only where its type says that a handle may be in it. Normal form comes
 * first: after it every child is what its type says, and there are at most as many as there are bytes. */

/* FALSE for what can't hold a handle, wherever it is. */
static gboolean
may_have_handles (const GVariantType *type)
{
  const char *text = g_variant_type_peek_string (type);
  gsize length = g_variant_type_get_string_length (type);

  return memchr (text, 'h', length) != NULL || memchr (text, 'v', length) != NULL;
}

/* How deep containers nest by their type alone. GLib bounds the recursion: a type string has at most 128 levels. */
static guint
type_depth (const GVariantType *type)
{
  guint depth = 0;

  if (g_variant_type_is_variant (type))
    return 1;
  if (g_variant_type_is_array (type) || g_variant_type_is_maybe (type))
    return 1 + type_depth (g_variant_type_element (type));
  if (!g_variant_type_is_tuple (type) && !g_variant_type_is_dict_entry (type))
    return 0;

  for (type = g_variant_type_first (type); type != NULL; type = g_variant_type_next (type))
    depth = MAX (depth, type_depth (type));
  return 1 + depth;
}

static const char *
take_handle (gint32  handle,
             guint  *n_fields)
{
  if (handle < 0)
    return "has a negative handle";

  *n_fields = MAX (*n_fields, (guint) handle + 1);
  return NULL;
}

static const char *
take_handles (GVariant *array,
              guint    *n_fields)
{
  gsize n;
  const gint32 *handles = g_variant_get_fixed_array (array, &n, sizeof *handles);
  const char *problem = NULL;

  for (gsize i = 0; i < n && problem == NULL; i++)
    problem = take_handle (handles[i], n_fields);
  return problem;
}

/* @depth containers are around it. */
static const char *
walk (GVariant *value,
      guint     depth,
      guint    *n_fields)
{
  const GVariantType *type = g_variant_get_type (value);
  const char *problem = NULL;

  if (depth + type_depth (type) > ARENA_MAX_VALUE_DEPTH)
    return "nests deeper than 64 containers";
  if (!may_have_handles (type))
    return NULL;
  if (g_variant_type_equal (type, G_VARIANT_TYPE_HANDLE))
    return take_handle (g_variant_get_handle (value), n_fields);
  if (g_variant_type_equal (type, G_VARIANT_TYPE ("ah")))
    return take_handles (value, n_fields);

  for (gsize i = 0, n = g_variant_n_children (value); i < n && problem == NULL; i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      problem = walk (child, depth + 1, n_fields);
    }
  return problem;
}

const char *
arena_value_check (GVariant *value,
                   guint    *n_fields)
{
  *n_fields = 0;
  if (!g_variant_is_normal_form (value))
    return "is not in normal form";

  return walk (value, 0, n_fields);
}
