/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

#include <poll.h>
#include <string.h>

#define CAPACITY 1000
#define CHARGED  1024

static guint64
released (ArenaEnds *ends)
{
  return atomic_load (&ends->storage->channel->cc->released);
}

static void
refuse_read (ArenaEnds *ends,
             guint64    span,
             guint64    offset,
             gsize      size,
             int        code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_reader_read (ends->reader, span, offset, size, &error));
  g_assert_error (error, ARENA_ERROR, code);
}

static void
refuse_end (ArenaEnds *ends,
            guint64    span,
            int        code)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (arena_reader_end_unit (ends->reader, span, &error));
  g_assert_error (error, ARENA_ERROR, code);
}

/* F12 */
static void
test_copies (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) copy = NULL;
  ArenaSent sent;

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_false (arena_reader_get_zero_copy (ends.reader));
  sent = arena_ends_send (&ends, CAPACITY, 1);
  copy = arena_ends_take (&ends, &sent);
  g_assert_cmpuint (GPOINTER_TO_SIZE (g_bytes_get_data (copy, NULL)) % 64, ==, 0);
  g_assert_cmpuint (released (&ends), ==, sent.span);
  memset (arena_mapping_get_data (ends.storage->data), 0xee, CAPACITY);
  arena_ends_check (copy, &sent);
}

static void
test_ended_once (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;

  arena_ends_open_ring (&ends, CAPACITY);
  sent = arena_ends_send (&ends, 100, 1);
  g_assert_true (arena_reader_end_unit (ends.reader, sent.span, NULL));
  refuse_end (&ends, sent.span, ARENA_ERROR_INVALID_STATE);
  refuse_read (&ends, sent.span, sent.offset, sent.size, ARENA_ERROR_PROTOCOL);
  g_assert_cmpuint (released (&ends), ==, sent.span);
  g_assert_false (ARENA_READER_GET_IFACE (ends.reader)->end_unit (ends.reader, sent.span, NULL));
  g_assert_null (ARENA_READER_GET_IFACE (ends.reader)->read (ends.reader, sent.span, sent.offset, 1, NULL));
}

static void
test_wild_spans (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;

  arena_ends_open_ring (&ends, CAPACITY);
  refuse_read (&ends, 0, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, 63, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, CHARGED + 64, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, G_MAXUINT64 - 63, 0, 1, ARENA_ERROR_PROTOCOL);
  g_assert_cmpuint (released (&ends), ==, 0);
  sent = arena_ends_send (&ends, CAPACITY, 1);
  arena_ends_pass (&ends, &sent);
}

static void
test_wild_ranges (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  guint64 data_size;
  ArenaSent sent;

  arena_ends_open_ring (&ends, CAPACITY);
  data_size = ends.storage->channel->geometry.data_size;
  sent = arena_ends_send (&ends, 100, 0);
  arena_ends_pass (&ends, &sent);
  sent = arena_ends_send (&ends, 100, 1);

  refuse_read (&ends, sent.span, sent.offset, 129, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, sent.offset + 128, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, sent.offset - 1, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, sent.offset, G_MAXSIZE, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, G_MAXUINT64, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, 2 * data_size, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, 2 * data_size + sent.offset, 1, ARENA_ERROR_PROTOCOL);
  arena_ends_pass (&ends, &sent);
}

/* Skipped units go back with the next that is read, on either side of the seam. */
static void
test_skipped_units_go_back (void)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_ring (&ends, 4096);
  for (guint i = 0; i < 200; i++)
    {
      ArenaSent last = { 0 };

      for (guint n = 0; n <= i % 5; n++)
        last = arena_ends_send (&ends, 300 + 64 * (i % 7), i);
      arena_ends_pass (&ends, &last);
      g_assert_cmpuint (released (&ends), ==, last.span);
    }
}

static void
test_empty_read (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = NULL;
  ArenaSent sent;

  arena_ends_open_ring (&ends, CAPACITY);
  sent = arena_ends_send (&ends, 100, 1);
  bytes = arena_reader_read (ends.reader, sent.span, 0, 0, NULL);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_true (arena_reader_end_unit (ends.reader, sent.span, NULL));
  g_assert_cmpuint (released (&ends), ==, sent.span);
}

static void
test_without_producer (void)
{
  g_autoptr (ArenaRing) ring = arena_ring_new (CAPACITY, NULL);
  g_auto (ArenaEnds) ends = { .reader = arena_backend_open_reader (ARENA_BACKEND (ring), NULL) };

  refuse_read (&ends, 64, 0, 1, ARENA_ERROR_INVALID_STATE);
  refuse_end (&ends, 64, ARENA_ERROR_INVALID_STATE);
}

static gboolean
is_woken (ArenaEnds *ends)
{
  struct pollfd event = { .fd = ends->storage->channel->wake_producer, .events = POLLIN };

  return poll (&event, 1, 0) == 1;
}

static void
test_wakes_on_crossing (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent first, second;

  arena_ends_open_ring (&ends, CAPACITY);
  first = arena_ends_send (&ends, 100, 1);
  second = arena_ends_send (&ends, 100, 2);
  atomic_store (&ends.storage->channel->cp->want_released, first.span + 1);
  arena_ends_pass (&ends, &first);
  g_assert_false (is_woken (&ends));
  arena_ends_pass (&ends, &second);
  g_assert_true (is_woken (&ends));
}

static void
test_closed (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) copy = NULL;
  g_autoptr (GError) error = NULL;
  ArenaSent sent, next;

  arena_ends_open_ring (&ends, CAPACITY);
  sent = arena_ends_send (&ends, 100, 1);
  next = arena_ends_send (&ends, 100, 2);
  copy = arena_reader_read (ends.reader, sent.span, sent.offset, sent.size, NULL);
  arena_backend_close (ends.backend, NULL);
  refuse_read (&ends, sent.span, sent.offset, sent.size, ARENA_ERROR_CLOSED);
  g_assert_true (arena_reader_end_unit (ends.reader, sent.span, &error));
  g_assert_cmpuint (released (&ends), ==, 0);
  arena_ends_check (copy, &sent);
  refuse_read (&ends, next.span, next.offset, next.size, ARENA_ERROR_CLOSED);
  refuse_end (&ends, next.span, ARENA_ERROR_CLOSED);
  g_assert_false (arena_reader_enter_epoch (ends.reader, 2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

static void
test_dropped_within_a_unit (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;

  arena_ends_open_ring (&ends, CAPACITY);
  sent = arena_ends_send (&ends, 100, 1);
  g_bytes_unref (arena_reader_read (ends.reader, sent.span, sent.offset, sent.size, NULL));
  g_assert_cmpuint (released (&ends), ==, 0);
  g_clear_object (&ends.reader);
  g_assert_cmpuint (released (&ends), ==, sent.span);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/ring-reader/copies", test_copies);
  arena_test_add ("/arena/ring-reader/ended-once", test_ended_once);
  arena_test_add ("/arena/ring-reader/wild-spans-are-refused", test_wild_spans);
  arena_test_add ("/arena/ring-reader/wild-ranges-are-refused", test_wild_ranges);
  arena_test_add ("/arena/ring-reader/skipped-units-go-back", test_skipped_units_go_back);
  arena_test_add ("/arena/ring-reader/empty-read", test_empty_read);
  arena_test_add ("/arena/ring-reader/nothing-to-read-without-a-producer", test_without_producer);
  arena_test_add ("/arena/ring-reader/wakes-on-crossing-only", test_wakes_on_crossing);
  arena_test_add ("/arena/ring-reader/closed", test_closed);
  arena_test_add ("/arena/ring-reader/dropped-within-a-unit", test_dropped_within_a_unit);
  return g_test_run ();
}
