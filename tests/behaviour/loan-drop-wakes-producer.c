/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

#include <poll.h>

/* Protocol 2.6 (H7): an event loop that waits for storage is woken when another thread drops the last buffer that is lent
 * out: what it waits for may be usable now. */

static gpointer
drop_later (gpointer data)
{
  g_usleep (20000);
  g_bytes_unref (data);
  return NULL;
}

static void
test (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  struct pollfd event = { .events = POLLIN };
  GThread *thread;
  GBytes *lent;

  arena_ends_open_pool (&ends, 1000, 2);
  event.fd = ends.storage->channel->wake_producer;
  g_assert_true (arena_writer_begin_unit (ends.writer, 0, 0, NULL, &error));
  g_assert_true (arena_writer_commit_unit (ends.writer, NULL, &error));
  arena_ends_send (&ends, 1000, 1);
  g_assert_true (arena_writer_begin_unit (ends.writer, 0, 0, NULL, &error));
  lent = arena_writer_reserve (ends.writer, 1000, 0, NULL, &error);
  g_assert_true (arena_writer_commit_unit (ends.writer, NULL, &error));

  g_assert_cmpuint (arena_ends_fill (&ends, 1000), ==, 0);
  thread = g_thread_new ("drop", drop_later, lent);
  g_assert_cmpint (poll (&event, 1, 2000), ==, 1);
  g_thread_join (thread);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/loan-drop-wakes-producer", test);
  return g_test_run ();
}
