/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-custom.h"
#include "arena-test.h"

#include <string.h>

#define SIZE 10

static char *last_message; /* of a warning */

static GLogWriterOutput
keep_message (GLogLevelFlags   level,
              const GLogField *fields,
              gsize            n_fields,
              gpointer         data)
{
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      {
        g_free (last_message);
        last_message = g_strdup (fields[i].value);
      }

  return G_LOG_WRITER_HANDLED;
}

static void
assert_ended (ArenaCustom *custom,
              guint        n,
              guint64      span)
{
  g_assert_cmpuint (custom->n_ended, ==, n);
  g_assert_cmpuint (custom->last_ended, ==, span);
}

static GBytes *
read_unit (ArenaCustom *custom,
           guint64      span)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = arena_reader_read (ARENA_READER (custom), span, 0, SIZE, &error);

  g_assert_no_error (error);
  return bytes;
}

static void
end_unit (ArenaCustom *custom,
          guint64      span)
{
  g_autoptr (GError) error = NULL;

  arena_reader_end_unit (ARENA_READER (custom), span, &error);
  g_assert_no_error (error);
}

static void
test_last_view_ends (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  GBytes *first = read_unit (custom, 7);
  GBytes *second = read_unit (custom, 7);
  GBytes *part = g_bytes_new_from_bytes (second, 2, 3);

  end_unit (custom, 7);
  g_bytes_unref (first);
  g_bytes_unref (second);
  assert_ended (custom, 0, 0);
  g_bytes_unref (part);
  assert_ended (custom, 1, 7);
  g_assert_true (custom->ended_on == g_thread_self ());
}

static void
test_end_without_views (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);

  g_bytes_unref (read_unit (custom, 1));
  assert_ended (custom, 0, 0);
  end_unit (custom, 1);
  assert_ended (custom, 1, 1);

  /* never read */
  end_unit (custom, 2);
  assert_ended (custom, 2, 2);
}

static void
test_order_of_calls (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  ArenaReader *reader = ARENA_READER (custom);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) view G_GNUC_UNUSED = read_unit (custom, 1);

  g_assert_null (arena_reader_read (reader, 2, 0, SIZE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Unit 1", "unit 2");
  g_assert_false (arena_reader_end_unit (reader, 2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Unit 1");
  g_assert_false (arena_reader_enter_epoch (reader, 2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "Unit 1");

  /* A second end must not reach the class: the view lives. */
  end_unit (custom, 1);
  g_assert_false (arena_reader_end_unit (reader, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "ended already");
  g_assert_null (arena_reader_read (reader, 1, 0, SIZE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "ended already");
  assert_ended (custom, 0, 0);
}

static void
test_copies_hold_nothing (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  g_autoptr (GBytes) copy = NULL;

  custom->zero_copy = FALSE;
  g_assert_false (arena_reader_get_zero_copy (ARENA_READER (custom)));
  copy = read_unit (custom, 1);
  end_unit (custom, 1);
  assert_ended (custom, 1, 1);
}

static void
test_failures (void)
{
  const ArenaCustomMode modes[] = {
    ARENA_CUSTOM_FAILS, ARENA_CUSTOM_CONTRADICTS, ARENA_CUSTOM_SAYS_NOTHING, ARENA_CUSTOM_LIES,
  };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (ArenaCustom) custom = arena_custom_new (modes[i]);
      g_autoptr (GError) error = NULL;

      g_assert_null (arena_reader_read (ARENA_READER (custom), 1, 0, SIZE, &error));
      if (i < 2)
        arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
      else
        arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "ArenaCustom.read()");

      /* The unit is open all the same, and ends with what the class says. */
      custom->mode = ARENA_CUSTOM_SAYS_NOTHING;
      g_assert_false (arena_reader_end_unit (ARENA_READER (custom), 1, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "ArenaCustom.end_unit()");
      assert_ended (custom, 1, 1);
      g_assert_false (arena_reader_enter_epoch (ARENA_READER (custom), 1, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "ArenaCustom.enter_epoch()");
    }
}

static void
test_missing (void)
{
  g_autoptr (ArenaBare) bare = g_object_new (ARENA_TYPE_BARE, NULL);
  ArenaReader *reader = ARENA_READER (bare);
  g_autoptr (GError) error = NULL;

  g_assert_false (arena_reader_enter_epoch (reader, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "ArenaBare", "enter_epoch");
  g_assert_null (arena_reader_read (reader, 1, 0, SIZE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "ArenaBare", "read");
  g_assert_false (arena_reader_end_unit (reader, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "ArenaBare", "end_unit");
}

static gpointer
drop (gpointer bytes)
{
  g_bytes_unref (bytes);
  return NULL;
}

/* GJS blocks for ever when it is entered from a thread that isn't its own. */
static void
test_foreign_thread_ends_later (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  GBytes *views[3];

  for (guint i = 0; i < 3; i++)
    {
      views[i] = read_unit (custom, i);
      end_unit (custom, i);
    }
  for (guint i = 0; i < 3; i++)
    g_thread_join (g_thread_new ("drop", drop, views[i]));

  assert_ended (custom, 0, 0);
  g_bytes_unref (read_unit (custom, 9));
  assert_ended (custom, 3, 2);
  g_assert_true (custom->ended_on == g_thread_self ());
  end_unit (custom, 9);
}

static void
test_reader_goes_first (void)
{
  ArenaCustom *custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  GBytes *view = read_unit (custom, 1);

  /* In the middle of a unit: the view keeps the reader, not the open unit. */
  g_object_add_weak_pointer (G_OBJECT (custom), (gpointer *) &custom);
  g_object_unref (custom);
  g_assert_nonnull (custom);
  g_bytes_unref (view);
  g_assert_null (custom);
}

static void
test_reader_dies_with_ends_waiting (void)
{
  ArenaCustom *custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  GBytes *view = read_unit (custom, 1);

  end_unit (custom, 1);
  g_object_add_weak_pointer (G_OBJECT (custom), (gpointer *) &custom);
  g_object_unref (custom);
  g_thread_join (g_thread_new ("drop", drop, view));
  g_assert_null (custom);
}

static void
test_late_failure_is_told (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);
  GBytes *view = read_unit (custom, 5);

  end_unit (custom, 5);
  custom->mode = ARENA_CUSTOM_FAILS;
  g_bytes_unref (view);
  g_assert_cmpstr (last_message, ==, "ArenaCustom could not end unit 5: custom");
  g_clear_pointer (&last_message, g_free);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  g_log_set_writer_func (keep_message, NULL, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  arena_test_add ("/arena/reader/last-view-ends-the-unit", test_last_view_ends);
  arena_test_add ("/arena/reader/unit-without-views-ends-at-once", test_end_without_views);
  arena_test_add ("/arena/reader/one-unit-at-a-time", test_order_of_calls);
  arena_test_add ("/arena/reader/copies-hold-nothing", test_copies_hold_nothing);
  arena_test_add ("/arena/reader/every-failure-has-an-error", test_failures);
  arena_test_add ("/arena/reader/missing-slot-is-not-supported", test_missing);
  arena_test_add ("/arena/reader/foreign-thread-ends-later", test_foreign_thread_ends_later);
  arena_test_add ("/arena/reader/view-keeps-its-reader", test_reader_goes_first);
  arena_test_add ("/arena/reader/reader-dies-with-ends-waiting", test_reader_dies_with_ends_waiting);
  arena_test_add ("/arena/reader/late-failure-is-told", test_late_failure_is_told);
  return g_test_run ();
}
