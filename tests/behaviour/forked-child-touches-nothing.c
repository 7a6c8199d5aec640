/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

/* Protocol 1.6: in a forked child of a process that has opened an arena every call is FORKED, and dropping everything,
 * views included, changes nothing for the parent. */

typedef struct
{
  ArenaEnds ends;
  ArenaSent sent;
  ArenaSent next;
  GBytes   *view;
  GBytes   *lent;
} Inherited;

static void
assert_forked (gboolean   result,
               GError   **error)
{
  g_assert_false (result);
  g_assert_error (*error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_clear_error (error);
}

static int
use (gpointer data)
{
  Inherited *in = data;
  g_autoptr (GBytes) bytes = g_bytes_new_static ("x", 1);
  g_autoptr (GError) error = NULL;
  ArenaEnds own = { 0 };
  ArenaSent sent;

  assert_forked (arena_backend_open_reader (in->ends.backend, &error) != NULL, &error);
  assert_forked (arena_backend_open_writer (in->ends.backend, &error) != NULL, &error);
  assert_forked (arena_backend_shutdown (in->ends.backend, &error), &error);
  assert_forked (arena_backend_close (in->ends.backend, &error), &error);
  assert_forked (arena_backend_unlink (in->ends.backend, &error), &error);
  assert_forked (arena_writer_start_epoch (in->ends.writer, 1, &error), &error);
  assert_forked (arena_writer_begin_unit (in->ends.writer, 1, -1, NULL, &error), &error);
  assert_forked (arena_writer_write (in->ends.writer, bytes, NULL, &error), &error);
  assert_forked (arena_writer_reserve (in->ends.writer, 1, 0, NULL, &error) != NULL, &error);
  assert_forked (arena_writer_commit_unit (in->ends.writer, NULL, &error), &error);
  assert_forked (arena_writer_abort_unit (in->ends.writer, &error), &error);
  assert_forked (arena_reader_enter_epoch (in->ends.reader, 1, &error), &error);
  assert_forked (arena_reader_read (in->ends.reader, in->next.span, in->next.offset, 1, &error) != NULL, &error);
  assert_forked (arena_reader_end_unit (in->ends.reader, in->next.span, &error), &error);

  g_bytes_unref (in->view);
  g_clear_pointer (&in->lent, g_bytes_unref);
  arena_ends_clear (&in->ends);

  /* It may have an arena of its own. */
  arena_ends_open_pool (&own, 1000, 2);
  sent = arena_ends_send (&own, 1000, 3);
  arena_ends_pass (&own, &sent);
  arena_ends_clear (&own);
  return 0;
}

static void
check (Inherited *in)
{
  guint64 released;

  in->lent = NULL;
  in->sent = arena_ends_send (&in->ends, 300, 1);
  in->next = arena_ends_send (&in->ends, 300, 2);
  in->view = arena_ends_take (&in->ends, &in->sent);
  g_assert_true (arena_writer_begin_unit (in->ends.writer, 0, 0, NULL, NULL));
  in->lent = arena_writer_reserve (in->ends.writer, 10, 0, NULL, NULL);
  g_assert_true (arena_writer_abort_unit (in->ends.writer, NULL));
  released = atomic_load (&in->ends.storage->channel->cc->released);

  arena_test_assert_child (use, in);
  g_assert_cmpuint (atomic_load (&in->ends.storage->channel->cc->released), ==, released);
  g_assert_cmpuint (atomic_load (&in->ends.storage->channel->cc->state), ==, 0);
  arena_ends_check (in->view, &in->sent);
  g_bytes_unref (in->view);
  g_bytes_unref (in->lent);
  arena_ends_pass (&in->ends, &in->next);
  in->sent = arena_ends_send (&in->ends, 300, 3);
  arena_ends_pass (&in->ends, &in->sent);
  arena_ends_clear (&in->ends);
}

static void
test (void)
{
  Inherited in = { 0 };

  arena_ends_open_pool (&in.ends, 1000, 3);
  check (&in);
  arena_ends_open_ring (&in.ends, 1000);
  check (&in);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/forked-child-touches-nothing", test);
  return g_test_run ();
}
