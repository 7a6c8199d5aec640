/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-builder-private.h"

#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

/* The life of a unit in a builder; test-unit-builder-fields.c has what goes into it. */

#define CAPACITY  65536
#define ENVELOPE  4096
#define THRESHOLD 1024

static void
assert_every_call_fails (ArenaLoopback *loop,
                         int            code)
{
  ArenaUnitBuilder *builder = loop->builder;
  const guint64 shape[] = { 2 };
  const guint8 data[] = { 1, 2 };
  g_autoptr (GBytes) bytes = g_bytes_new (data, sizeof data);
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_int32 (1));
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (arena_unit_builder_append_bytes (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, bytes, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, code);
  g_assert_cmpint (arena_unit_builder_append_address (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, (guintptr) data, 2,
                                                      NULL, 0, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, code);
  g_assert_null (arena_unit_builder_reserve (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, code);
  g_assert_false (arena_unit_builder_set_value (builder, value, &error));
  arena_test_assert_error (error, ARENA_ERROR, code);
  g_assert_false (arena_unit_builder_set_payload (builder, "t", data, 2, &error));
  arena_test_assert_error (error, ARENA_ERROR, code);
  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, code);
}

static void
test_no_unit (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);

  assert_every_call_fails (loop, ARENA_ERROR_INVALID_STATE);
  arena_unit_builder_abort (loop->builder);
  g_assert_cmpuint (loop->n_abandoned, ==, 0);

  arena_loopback_open (loop);
  g_object_unref (arena_loopback_send (loop));
  assert_every_call_fails (loop, ARENA_ERROR_INVALID_STATE);
}

static void
test_empty_unit (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 0);
  g_assert_cmpuint (loop->published_size, ==, 64);
  g_assert_cmpuint (loop->size, ==, 0);
  g_assert_cmpuint (loop->n_acquired, ==, 0);
}

static void
test_nested (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "kept", 5, 1);
  g_assert_false (arena_unit_builder_open (loop->builder, 7, loop->envelope, ENVELOPE, FALSE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "unit 0");
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 1);
}

static void
test_storage_settled (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  g_assert_true (arena_unit_builder_is_open (loop->builder));
  arena_loopback_bytes (loop, NULL, 2000, 1);
  arena_loopback_bytes (loop, NULL, 3000, 2);
  g_assert_cmpuint (loop->acquired_size, ==, 2000);
  unit = arena_loopback_send (loop);
  g_assert_false (arena_unit_builder_is_open (loop->builder));

  g_assert_cmpuint (loop->n_acquired, ==, 1);
  g_assert_cmpuint (loop->writer->n_committed, ==, 1);
  g_assert_cmpuint (loop->span, ==, 1);
  g_assert_cmpuint (loop->offset, ==, loop->writer->start);
  g_assert_cmpuint (loop->size, ==, 2048 + 3000);
}

/* Storage that was taken ahead and never needed goes back. */
static void
test_unused_storage (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (GError) error = NULL;

  for (guint64 unit = 0; unit < 3; unit++)
    {
      arena_writer_begin_unit (ARENA_WRITER (loop->writer), 2000, -1, NULL, &error);
      g_assert_no_error (error);
      arena_unit_builder_open (loop->builder, unit, loop->envelope, ENVELOPE, TRUE, &error);
      g_assert_no_error (error);
      arena_loopback_bytes (loop, NULL, 10, 1);
      g_object_unref (arena_loopback_send (loop));
      g_assert_cmpuint (loop->writer->n_aborted, ==, unit + 1);
      g_assert_cmpuint (loop->writer->n_committed, ==, 0);
      g_assert_cmpuint (loop->n_acquired, ==, 0);
      g_assert_cmpuint (loop->span, ==, 0);
      g_assert_cmpuint (loop->size, ==, 0);
    }
}

static void
test_abort (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (ArenaUnit) unit = NULL;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  arena_loopback_bytes (loop, "small", 20, 1);
  arena_unit_builder_abort (loop->builder);
  arena_unit_builder_abort (loop->builder);
  g_assert_cmpuint (loop->n_abandoned, ==, 1);
  g_assert_cmpuint (loop->writer->n_aborted, ==, 1);
  g_assert_cmpuint (loop->n_published, ==, 0);

  /* Nothing of it is in the next one. */
  arena_loopback_open (loop);
  unit = arena_loopback_send (loop);
  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, 0);
  g_assert_cmpuint (loop->size, ==, 0);
}

static void
test_commit_fails (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (GError) error = NULL;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  loop->writer->fail_commit = ARENA_ERROR_PEER_GONE + 1;
  g_assert_false (arena_unit_builder_commit (loop->builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  g_assert_false (arena_unit_builder_is_open (loop->builder));
  g_assert_cmpuint (loop->n_abandoned, ==, 1);
  g_assert_cmpuint (loop->n_published, ==, 0);
  g_assert_cmpuint (loop->writer->n_aborted, ==, 1);
}

static void
test_publish_fails (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (GError) error = NULL;

  arena_loopback_open (loop);
  loop->fail_publish = g_error_new_literal (ARENA_ERROR, ARENA_ERROR_PEER_GONE, "gone");
  g_assert_false (arena_unit_builder_commit (loop->builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  g_assert_false (arena_unit_builder_is_open (loop->builder));
  g_assert_cmpuint (loop->n_abandoned, ==, 0);
}

static void
test_check (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  loop->fail_check = g_error_new_literal (ARENA_ERROR, ARENA_ERROR_CLOSED, "stopped");
  assert_every_call_fails (loop, ARENA_ERROR_CLOSED);
  arena_unit_builder_abort (loop->builder);
  g_assert_cmpuint (loop->writer->n_aborted, ==, 1);
  g_assert_cmpuint (loop->n_abandoned, ==, 1);
}

/* A child's abort must not give back what its parent writes to. */
static void
test_forked (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  loop->fail_check = g_error_new_literal (ARENA_ERROR, ARENA_ERROR_FORKED, "forked");
  assert_every_call_fails (loop, ARENA_ERROR_FORKED);
  arena_unit_builder_abort (loop->builder);
  g_assert_false (arena_unit_builder_is_open (loop->builder));
  g_assert_cmpuint (loop->writer->n_aborted, ==, 0);
  g_assert_cmpuint (loop->n_abandoned, ==, 0);
}

static void
test_detach (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (GError) error = NULL;

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  arena_unit_builder_detach (loop->builder);
  arena_unit_builder_detach (loop->builder);
  g_assert_cmpuint (loop->writer->n_aborted, ==, 1);
  g_assert_cmpuint (loop->n_abandoned, ==, 1);
  assert_every_call_fails (loop, ARENA_ERROR_CLOSED);
  g_assert_false (arena_unit_builder_open (loop->builder, 7, loop->envelope, ENVELOPE, FALSE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  arena_unit_builder_abort (loop->builder);
}

/* A script can do this, and then nothing may crash. */
static void
test_run_dispose (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "big", 2000, 1);
  g_object_run_dispose (G_OBJECT (loop->builder));
  g_assert_cmpuint (loop->n_abandoned, ==, 1);
  assert_every_call_fails (loop, ARENA_ERROR_CLOSED);
}

static void
test_value_and_payload (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, ENVELOPE, THRESHOLD);
  g_autoptr (ArenaUnit) unit = NULL;
  g_autoptr (GVariant) value = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *payload = NULL;
  gsize n_bytes;

  arena_loopback_open (loop);
  arena_unit_builder_set_value (loop->builder, g_variant_new ("(ih)", -5, 0), &error); /* floating */
  g_assert_no_error (error);
  arena_unit_builder_set_payload (loop->builder, "t", (const guint8 *) "abc", 3, &error);
  g_assert_no_error (error);
  arena_loopback_bytes (loop, "x", 1, 1);
  unit = arena_loopback_send (loop);

  value = arena_unit_dup_value (unit, &error);
  g_assert_cmpstr (g_variant_get_type_string (value), ==, "(ih)");
  payload = arena_unit_copy_payload (unit, &n_bytes, NULL, &error);
  g_assert_cmpmem (payload, n_bytes, "abc", 3);
}

/* Which fields there are is known at the commit; one that refuses leaves the unit open for the field it misses. */
static void
test_handles (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (4096, 1024, 64);
  g_autoptr (GError) error = NULL;

  arena_loopback_open (loop);
  g_assert_false (arena_unit_builder_set_value (loop->builder, g_variant_new_handle (-1), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "negative handle");
  g_assert_true (arena_unit_builder_set_value (loop->builder, g_variant_new ("(ih)", 0, 1), NULL));
  arena_loopback_bytes (loop, "x", 100, 1);
  g_assert_false (arena_unit_builder_commit (loop->builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "field 1", "has 1 fields");
  arena_loopback_bytes (loop, "y", 100, 1);
  g_assert_true (arena_unit_builder_commit (loop->builder, NULL));

  arena_loopback_open (loop);
  g_assert_true (arena_unit_builder_commit (loop->builder, NULL));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/unit-builder/no-unit", test_no_unit);
  arena_test_add ("/arena/unit-builder/empty-unit", test_empty_unit);
  arena_test_add ("/arena/unit-builder/nested", test_nested);
  arena_test_add ("/arena/unit-builder/storage-settled", test_storage_settled);
  arena_test_add ("/arena/unit-builder/unused-storage", test_unused_storage);
  arena_test_add ("/arena/unit-builder/abort", test_abort);
  arena_test_add ("/arena/unit-builder/commit-fails", test_commit_fails);
  arena_test_add ("/arena/unit-builder/publish-fails", test_publish_fails);
  arena_test_add ("/arena/unit-builder/check", test_check);
  arena_test_add ("/arena/unit-builder/forked", test_forked);
  arena_test_add ("/arena/unit-builder/detach", test_detach);
  arena_test_add ("/arena/unit-builder/run-dispose", test_run_dispose);
  arena_test_add ("/arena/unit-builder/value-and-payload", test_value_and_payload);
  arena_test_add ("/arena/unit-builder/handles", test_handles);
  return g_test_run ();
}
