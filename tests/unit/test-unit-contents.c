/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-contents-private.h"

#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

#include <string.h>

static ArenaLoopback *
open_loopback (void)
{
  ArenaLoopback *loop = arena_loopback_new (65536, 4096, 1024);

  arena_loopback_open (loop);
  return loop;
}

static void
test_find_field (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_bytes (loop, NULL, 1, 0);
  arena_loopback_bytes (loop, "ab", 1, 0);
  arena_loopback_bytes (loop, "a", 1, 0);
  arena_loopback_bytes (loop, "a", 2, 0);
  arena_loopback_bytes (loop, "", 1, 0);
  arena_loopback_bytes (loop, "größe", 1, 0);
  unit = arena_loopback_send (loop);

  g_assert_cmpint (arena_unit_find_field (unit, "a"), ==, 2);
  g_assert_cmpint (arena_unit_find_field (unit, "ab"), ==, 1);
  g_assert_cmpint (arena_unit_find_field (unit, "abc"), ==, -1);
  g_assert_cmpint (arena_unit_find_field (unit, ""), ==, 4);
  g_assert_cmpint (arena_unit_find_field (unit, "größe"), ==, 5);
}

static void
test_dup_field (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (ArenaField) field = NULL;
  g_autoptr (GBytes) data = g_bytes_new_take (g_malloc0 (2400), 2400);
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 20, 30 };
  gsize n_dims;

  arena_unit_builder_append_bytes (loop->builder, "x", ARENA_DTYPE_FLOAT32, shape, 2, data, &error);
  g_assert_no_error (error);
  {
    g_autoptr (ArenaUnit) unit = arena_loopback_send (loop);

    field = arena_unit_dup_field (unit, 0, &error);
    g_assert_null (arena_unit_dup_field (unit, 1, &error));
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "field 1", "has 1");
    g_assert_null (arena_unit_dup_bytes (unit, G_MAXUINT, &error));
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "4294967295", "has 1");
  }

  g_assert_cmpstr (arena_field_get_name (field), ==, "x");
  g_assert_cmpint (arena_field_get_dtype (field), ==, ARENA_DTYPE_FLOAT32);
  g_assert_cmpuint (arena_field_get_size (field), ==, 2400);
  g_assert_cmpuint (arena_field_get_shape (field, &n_dims)[1], ==, 30);
  g_assert_cmpuint (n_dims, ==, 2);
}

static void
test_alignment (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (ArenaUnit) unit = NULL;

  for (guint i = 1; i <= 30; i++)
    arena_loopback_bytes (loop, NULL, i, i);
  unit = arena_loopback_send (loop);
  for (guint i = 0; i < 30; i++)
    {
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i, NULL);

      g_assert_cmpuint ((guintptr) g_bytes_get_data (view, NULL) % 16, ==, 0);
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (view, NULL), i + 1, i + 1));
    }
}

static void
test_no_value (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (ArenaUnit) unit = arena_loopback_send (loop);
  g_autoptr (GError) error = NULL;
  char *content_type = (char *) "x";
  gsize n_bytes = 9;

  g_assert_null (arena_unit_dup_value (unit, &error));
  g_assert_no_error (error);
  g_assert_null (arena_unit_copy_payload (unit, &n_bytes, &content_type, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n_bytes, ==, 0);
  g_assert_null (content_type);
}

/* The value is a copy: it outlives the unit and keeps nothing of it. */
static void
test_value (void)
{
  const char *const texts[] = { "()", "(1, 'two', [3.5, 4.5], {'k': <handle 1>})", "<<true>>", "@ay []", "'text'",
                                "@mmi just nothing" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (ArenaLoopback) loop = open_loopback ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) value = g_variant_parse (NULL, texts[i], NULL, NULL, &error);
      g_autoptr (GVariant) again = NULL;
      ArenaUnit *unit;

      g_assert_no_error (error);
      arena_unit_builder_set_value (loop->builder, value, &error);
      g_assert_no_error (error);
      arena_loopback_bytes (loop, NULL, 1, 1);
      arena_loopback_bytes (loop, NULL, 1, 1);
      unit = arena_loopback_send (loop);
      again = arena_unit_dup_value (unit, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 0);
      g_object_unref (unit);
      g_assert_false (g_variant_is_floating (again));
      g_assert_cmpvariant (again, value);
    }
}

/* A peer's value is not trusted: whatever its bytes are, it is refused, or in normal form and of its type. */
static void
test_spoiled_value (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_parsed ("[('a', <[1, 2]>), ('bcd', <'e'>)]"));
  gsize size = g_variant_get_size (value);
  guint n_refused = 0;

  g_assert_true (arena_unit_builder_set_value (loop->builder, value, NULL));
  g_object_unref (arena_loopback_send (loop));
  for (gsize at = 0; at < size; at++)
    {
      guint8 *envelope = arena_loopback_copy (loop);
      ArenaEnvelopeHeader *header = (gpointer) envelope;
      g_autoptr (ArenaUnit) unit = NULL;
      g_autoptr (GVariant) got = NULL;
      g_autoptr (GError) error = NULL;

      envelope[header->value + arena_envelope_round_up (header->value_type_size) + at] ^= 0xff;
      unit = arena_unit_new (0, 1, envelope, loop->published_size, NULL, NULL, &error);
      if (unit == NULL)
        {
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "the value is not in normal form");
          n_refused++;
          continue;
        }

      got = arena_unit_dup_value (unit, NULL);
      g_assert_true (g_variant_is_normal_form (got));
      g_assert_cmpstr (g_variant_get_type_string (got), ==, "a(sv)");
    }
  g_assert_cmpuint (n_refused, >, size / 2);
}

static void
test_dup_storage (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (ArenaUnit) small = NULL;
  g_autoptr (GBytes) storage = NULL;

  arena_loopback_bytes (loop, "a", 5000, 1);
  arena_loopback_bytes (loop, "b", 10, 2);
  arena_loopback_bytes (loop, "c", 6000, 3);
  arena_loopback_bytes (loop, "d", 0, 4);
  unit = arena_loopback_send (loop);
  storage = arena_unit_dup_storage (unit, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (arena_unit_get_n_exports (unit), ==, 1);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (ArenaField) field = arena_unit_dup_field (unit, i, NULL);
      gint64 offset = arena_field_get_offset (field);

      g_assert_cmpint (offset, ==, i == 0 ? 0 : i == 2 ? 5056 : -1);
      if (offset >= 0)
        g_assert_true (arena_test_check_pattern ((const guint8 *) g_bytes_get_data (storage, NULL) + offset,
                                                 arena_field_get_size (field), i + 1));
    }

  arena_unit_release (unit);
  g_assert_null (arena_unit_dup_storage (unit, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "was released");
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (storage, NULL), 5000, 1));

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "e", 10, 2);
  small = arena_loopback_send (loop);
  g_assert_null (arena_unit_dup_storage (small, &error));
  g_assert_no_error (error);
}

static void
test_payload (void)
{
  const gsize sizes[] = { 0, 1, 7, 8, 9, 3000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (ArenaLoopback) loop = open_loopback ();
      g_autofree guint8 *payload = g_malloc0 (sizes[i] + 1);
      g_autoptr (GError) error = NULL;
      g_autoptr (ArenaUnit) unit = NULL;
      g_autofree char *content_type = NULL;
      g_autofree guint8 *again = NULL;
      gsize n_bytes;

      arena_test_fill_pattern (payload, sizes[i], i);
      arena_unit_builder_set_payload (loop->builder, "application/x", payload, sizes[i], &error);
      g_assert_no_error (error);
      unit = arena_loopback_send (loop);
      again = arena_unit_copy_payload (unit, &n_bytes, &content_type, &error);
      g_assert_no_error (error);
      g_assert_nonnull (again);
      g_assert_cmpmem (again, n_bytes, payload, sizes[i]);
      g_assert_cmpstr (content_type, ==, "application/x");
    }
}

/* What a consumer writes to a view, against the rules, changes none of what the unit says. */
static void
test_scribbled (void)
{
  g_autoptr (ArenaLoopback) loop = open_loopback ();
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GVariant) value = NULL;

  arena_loopback_bytes (loop, "a", 100, 1);
  g_assert_true (arena_unit_builder_set_value (loop->builder, g_variant_new_string ("kept"), NULL));
  arena_loopback_bytes (loop, "b", 100, 1);
  unit = arena_loopback_send (loop);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GBytes) view = arena_unit_dup_bytes (unit, i, NULL);

      memset ((gpointer) g_bytes_get_data (view, NULL), 0xff, 100);
    }

  value = arena_unit_dup_value (unit, NULL);
  g_assert_cmpstr (g_variant_get_string (value, NULL), ==, "kept");
  g_assert_cmpint (arena_unit_find_field (unit, "b"), ==, 1);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/unit-contents/find-field", test_find_field);
  arena_test_add ("/arena/unit-contents/dup-field", test_dup_field);
  arena_test_add ("/arena/unit-contents/dup-storage", test_dup_storage);
  arena_test_add ("/arena/unit-contents/alignment", test_alignment);
  arena_test_add ("/arena/unit-contents/no-value", test_no_value);
  arena_test_add ("/arena/unit-contents/value", test_value);
  arena_test_add ("/arena/unit-contents/spoiled-value", test_spoiled_value);
  arena_test_add ("/arena/unit-contents/payload", test_payload);
  arena_test_add ("/arena/unit-contents/scribbled", test_scribbled);
  return g_test_run ();
}
