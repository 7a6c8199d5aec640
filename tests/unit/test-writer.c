/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-custom.h"
#include "arena-test.h"

#define SIZE 10

/* What the class is to be seen doing through every call: its out argument, where there is one, or 0. */
static gboolean
call (ArenaWriter  *writer,
      guint         number,
      guint64      *out,
      GError      **error)
{
  static const guint8 data[SIZE];
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, SIZE);
  g_autoptr (GBytes) reserved = NULL;

  switch (number)
    {
    case 0:
      return arena_writer_start_epoch (writer, 1, error);
    case 1:
      return arena_writer_begin_unit (writer, 0, -1, NULL, error);
    case 2:
      return arena_writer_write (writer, bytes, out, error);
    case 3:
      reserved = arena_writer_reserve (writer, SIZE, 64, out, error);
      return reserved != NULL;
    case 4:
      return arena_writer_commit_unit (writer, out, error);
    default:
      return arena_writer_abort_unit (writer, error);
    }
}

static const char *const names[] = { "start_epoch", "begin_unit", "write", "reserve", "commit_unit", "abort_unit" };

static gboolean
has_out (guint number)
{
  return number >= 2 && number <= 4;
}

static void
test_works (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      guint64 out = 1;

      g_assert_true (call (ARENA_WRITER (custom), i, &out, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (out, ==, has_out (i) ? 1234 : 1);
      g_assert_true (call (ARENA_WRITER (custom), i, NULL, NULL));
    }
}

static void
check_failure (ArenaCustomMode  mode,
               GQuark           domain,
               int              code)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (mode);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      guint64 out = 1;

      g_assert_false (call (ARENA_WRITER (custom), i, &out, &error));
      g_assert_error (error, domain, code);
      g_assert_cmpuint (out, ==, has_out (i) ? 0 : 1);
      g_assert_false (call (ARENA_WRITER (custom), i, NULL, NULL));
    }
}

static void
test_fails (void)
{
  check_failure (ARENA_CUSTOM_FAILS, G_IO_ERROR, G_IO_ERROR_FAILED);
  check_failure (ARENA_CUSTOM_CONTRADICTS, G_IO_ERROR, G_IO_ERROR_FAILED);
  check_failure (ARENA_CUSTOM_SAYS_NOTHING, ARENA_ERROR, ARENA_ERROR_BACKEND);
}

static void
test_wrong_size (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_LIES);
  g_autoptr (GError) error = NULL;
  guint64 offset = 1;

  g_assert_null (arena_writer_reserve (ARENA_WRITER (custom), SIZE, 0, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "reserve", "size");
  g_assert_cmpuint (offset, ==, 0);
}

static void
test_missing (void)
{
  g_autoptr (ArenaBare) bare = g_object_new (ARENA_TYPE_BARE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      guint64 out = 1;

      g_assert_false (call (ARENA_WRITER (bare), i, &out, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "ArenaBare", names[i]);
      g_assert_cmpuint (out, ==, has_out (i) ? 0 : 1);
    }
}

static void
test_arguments (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  const gsize alignments[] = { 3, 65, 96, 8192, G_MAXSIZE };
  g_autoptr (GError) error = NULL;

  g_assert_false (arena_writer_begin_unit (ARENA_WRITER (custom), 0, -2, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "timeout", "-2");

  for (guint i = 0; i < G_N_ELEMENTS (alignments); i++)
    {
      g_assert_null (arena_writer_reserve (ARENA_WRITER (custom), SIZE, alignments[i], NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "alignment", "4096");
    }
  for (gsize alignment = 1; alignment <= 4096; alignment *= 2)
    {
      g_autoptr (GBytes) bytes = arena_writer_reserve (ARENA_WRITER (custom), SIZE, alignment, NULL, &error);

      g_assert_no_error (error);
      g_assert_nonnull (bytes);
    }
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/writer/custom-works", test_works);
  arena_test_add ("/arena/writer/every-failure-has-an-error-and-clears-outs", test_fails);
  arena_test_add ("/arena/writer/wrong-size-is-an-error", test_wrong_size);
  arena_test_add ("/arena/writer/missing-slot-is-not-supported", test_missing);
  arena_test_add ("/arena/writer/arguments-are-checked-for-every-class", test_arguments);
  return g_test_run ();
}
