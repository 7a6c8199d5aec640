/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* F173, protocol 2.6: while a reserved buffer lives, its storage is not handed out again, though the consumer has
 * given it back; that is BUSY at once, naming unit and field, since only this process can end it. An aborted unit's
 * buffer counts too. */

static GBytes *
lend (ArenaEnds *ends,
      ArenaSent *sent)
{
  GBytes *lent;

  g_assert_true (arena_writer_begin_unit (ends->writer, 0, 0, NULL, NULL));
  lent = arena_writer_reserve (ends->writer, sent->size, 0, &sent->offset, NULL);
  g_assert_nonnull (lent);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (lent, NULL), sent->size, sent->seed);
  return lent;
}

static void
refuse (ArenaEnds  *ends,
        const char *text)
{
  g_autoptr (GError) error = NULL;
  ArenaSent sent;

  g_assert_false (arena_ends_try_send (ends, 1000, 1, -1, &sent, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, text);
}

static void
check (ArenaEnds *ends)
{
  ArenaSent sent = { .size = 1000, .seed = 5 };
  GBytes *lent = lend (ends, &sent);
  GBytes *part = g_bytes_new_from_bytes (lent, 10, 10);

  g_assert_true (arena_writer_commit_unit (ends->writer, &sent.span, NULL));
  arena_ends_pass (ends, &sent);
  refuse (ends, "field 0 of unit 0");
  g_bytes_unref (lent);
  refuse (ends, "field 0 of unit 0");
  g_bytes_unref (part);

  lent = lend (ends, &sent);
  g_assert_true (arena_writer_abort_unit (ends->writer, NULL));
  refuse (ends, "field 0 of unit 1");
  g_bytes_unref (lent);
  sent = arena_ends_send (ends, 1000, 7);
  arena_ends_pass (ends, &sent);
  arena_ends_clear (ends);
}

static void
test (void)
{
  arena_ends_check_both (1000, 1, check);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/loan-blocks-reuse", test);
  return g_test_run ();
}
