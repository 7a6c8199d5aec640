/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "backend/arena-vfunc-private.h"
#include "base/arena-error-private.h"

static void
test_missing (void)
{
  g_autoptr (GObject) object = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GError) error = NULL;

  arena_vfunc_set_missing (object, "open_writer", &error);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "GObject", "open_writer");
  arena_vfunc_set_missing (object, "open_writer", NULL);
}

static void
test_success (void)
{
  g_autoptr (GObject) object = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_vfunc_end (object, "close", TRUE, NULL, &error));
  g_assert_no_error (error);
}

static void
test_failures (void)
{
  g_autoptr (GObject) object = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (arena_vfunc_end (object, "close", FALSE, g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "own"), &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "own");

  g_assert_false (arena_vfunc_end (object, "close", TRUE, g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "own"), &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "own");

  g_assert_false (arena_vfunc_end (object, "close", FALSE, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "GObject.close()");

  g_assert_false (arena_vfunc_end (object, "close", FALSE, g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "own"), NULL));
}

static void
test_broken (void)
{
  g_autoptr (GObject) object = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GError) error = NULL;

  arena_vfunc_set_broken (object, "read", "returned nonsense", &error);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "GObject.read() returned nonsense");
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/vfunc/missing-names-class-and-method", test_missing);
  arena_test_add ("/arena/vfunc/success-passes", test_success);
  arena_test_add ("/arena/vfunc/every-failure-has-an-error", test_failures);
  arena_test_add ("/arena/vfunc/broken-names-class-and-method", test_broken);
  return g_test_run ();
}
