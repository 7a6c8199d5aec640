/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "unit/arena-value-private.h"

static guint
check (const char *text)
{
  g_autoptr(GVariant) value = g_variant_ref_sink (g_variant_new_parsed (text));
  guint n_fields = 99;

  g_assert_null (arena_value_check (value, &n_fields));
  return n_fields;
}

static void
test_handles_are_found (void)
{
  g_assert_cmpuint (check ("5"), ==, 0);
  g_assert_cmpuint (check ("handle 0"), ==, 1);
  g_assert_cmpuint (check ("[handle 4, handle 7, handle 1]"), ==, 8);
  g_assert_cmpuint (check ("(handle 4, <handle 9>, [{'k': <[<handle 11>]>}])"), ==, 12);
  g_assert_cmpuint (check ("@mh nothing"), ==, 0);
  g_assert_cmpuint (check ("@mh 3"), ==, 4);
  g_assert_cmpuint (check ("{handle 6: 'k'}"), ==, 7);
  g_assert_cmpuint (check ("@ah []"), ==, 0);
  g_assert_cmpuint (check ("handle 2147483647"), ==, 2147483648u);
}

static void
assert_refused (GVariant   *value,
                const char *text)
{
  g_autoptr(GVariant) sunk = g_variant_ref_sink (value);
  guint n_fields;

  g_assert_cmpstr (arena_value_check (sunk, &n_fields), ==, text);
}

static void
test_bad_handles (void)
{
  assert_refused (g_variant_new_parsed ("handle -1"), "has a negative handle");
  assert_refused (g_variant_new_parsed ("[handle 1, handle -2147483648]"), "has a negative handle");
  assert_refused (g_variant_new_parsed ("{'k': <(1, handle -5)>}"), "has a negative handle");
}

/* @n variants in one another, with @inner in the last. */
static GVariant *
nest (guint     n,
      GVariant *inner)
{
  for (guint i = 0; i < n; i++)
    inner = g_variant_new_variant (inner);
  return inner;
}

static void
test_depth (void)
{
  g_autofree char *arrays = g_strnfill (65, 'a');
  g_autofree char *deep = g_strconcat (arrays, "y", NULL);
  guint n_fields;
  g_autoptr(GVariant) good = g_variant_ref_sink (nest (64, g_variant_new_byte (1)));
  g_autoptr(GVariant) flat = g_variant_ref_sink (nest (62, g_variant_new_parsed ("[(1, 2)]")));

  g_assert_null (arena_value_check (good, &n_fields));
  g_assert_null (arena_value_check (flat, &n_fields));
  assert_refused (nest (65, g_variant_new_byte (1)), "nests deeper than 64 containers");
  assert_refused (nest (63, g_variant_new_parsed ("[(1, 2)]")), "nests deeper than 64 containers");
  assert_refused (g_variant_new_array (G_VARIANT_TYPE (deep + 1), NULL, 0), "nests deeper than 64 containers");
}

static void
test_normal_form (void)
{
  const guint8 data[] = { 2, 0, 0, 0 };
  g_autoptr(GBytes) bytes = g_bytes_new_static (data, sizeof data);

  assert_refused (g_variant_new_from_bytes (G_VARIANT_TYPE ("b"), bytes, FALSE), "is not in normal form");
  assert_refused (g_variant_new_from_bytes (G_VARIANT_TYPE ("as"), bytes, FALSE), "is not in normal form");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/value/handles-are-found", test_handles_are_found);
  arena_test_add ("/arena/value/bad-handles", test_bad_handles);
  arena_test_add ("/arena/value/depth", test_depth);
  arena_test_add ("/arena/value/normal-form", test_normal_form);
  return g_test_run ();
}
