/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

#include <poll.h>

#define SEGMENT 100
#define COUNT   3

static guint64
freed (ArenaEnds *ends,
       guint      index)
{
  return atomic_load (&ends->storage->channel->cc->freed[index]);
}

static guint64
released (ArenaEnds *ends)
{
  return atomic_load (&ends->storage->channel->cc->released);
}

static guint
n_held (ArenaEnds *ends)
{
  return arena_pool_reader_n_held (ARENA_POOL_READER (ends->reader));
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

static void
test_starts_free (void)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_true (arena_reader_get_zero_copy (ends.reader));
  g_assert_cmpuint (n_held (&ends), ==, 0);
  for (guint i = 0; i < COUNT; i++)
    g_assert_cmpuint (freed (&ends, i), ==, i);
}

/* F117, and the order of numbers: freed[i] is the sequence, released counts. */
static void
test_release (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;
  GBytes *view;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  view = arena_ends_take (&ends, &sent);
  g_assert_cmpuint (n_held (&ends), ==, 1);
  g_assert_true (arena_pool_reader_is_held (ARENA_POOL_READER (ends.reader), (guint) (sent.span % COUNT)));
  g_assert_cmpuint (released (&ends), ==, 0);

  g_bytes_unref (view);
  g_assert_cmpuint (n_held (&ends), ==, 0);
  g_assert_cmpuint (freed (&ends, (guint) (sent.span % COUNT)), ==, sent.span);
  g_assert_cmpuint (released (&ends), ==, 1);
}

static void
test_view_is_the_segment (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;
  g_autoptr (GBytes) view = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  view = arena_ends_take (&ends, &sent);
  g_assert_true (g_bytes_get_data (view, NULL) == arena_mapping_get_data (ends.storage->data) + sent.offset);
}

static void
test_unread_unit_goes_back (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  g_assert_true (arena_reader_end_unit (ends.reader, sent.span, NULL));
  g_assert_cmpuint (released (&ends), ==, 1);
  refuse_end (&ends, sent.span, ARENA_ERROR_INVALID_STATE);
  g_assert_cmpuint (released (&ends), ==, 1);
}

static void
test_empty_read (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) view = NULL;
  ArenaSent sent;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  view = arena_reader_read (ends.reader, sent.span, 0, 0, NULL);
  g_assert_cmpuint (g_bytes_get_size (view), ==, 0);
  g_assert_true (arena_reader_end_unit (ends.reader, sent.span, NULL));
  g_assert_cmpuint (released (&ends), ==, 1);
}

/* Protocol 5.2: reading s gives back every unread smaller s. */
static void
test_skipped_units_go_back (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent = { 0 };
  GBytes *view;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  for (guint i = 0; i < COUNT; i++)
    sent = arena_ends_send (&ends, SEGMENT, i);
  view = arena_ends_take (&ends, &sent);
  g_assert_cmpuint (released (&ends), ==, COUNT - 1);
  g_assert_cmpuint (n_held (&ends), ==, 1);
  g_bytes_unref (view);
}

/* A peer that goes wild is refused at the first bad word, before anything is touched. */
static void
test_wild_spans (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) held = NULL;
  ArenaSent sent;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  refuse_read (&ends, 0, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, COUNT - 1, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, G_MAXUINT64, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, (G_GUINT64_CONSTANT (1) << 63) + 1, 0, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, 2 * COUNT, 0, 1, ARENA_ERROR_PROTOCOL);

  sent = arena_ends_send (&ends, SEGMENT, 1);
  held = arena_ends_take (&ends, &sent);
  refuse_end (&ends, sent.span + COUNT, ARENA_ERROR_PROTOCOL);
  refuse_end (&ends, sent.span - 1, ARENA_ERROR_PROTOCOL);
  g_assert_cmpuint (released (&ends), ==, 0);
  g_assert_cmpuint (n_held (&ends), ==, 1);

  sent = arena_ends_send (&ends, SEGMENT, 2);
  arena_ends_pass (&ends, &sent);
}

/* The same where the segments are in no order, and unit 1 is kept meanwhile. */
static void
test_any_skipped (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent[3 * COUNT];
  GBytes *kept, *view;

  arena_ends_open_any (&ends, SEGMENT, COUNT);
  for (guint i = 0; i < 2; i++)
    sent[i] = arena_ends_send (&ends, SEGMENT, i);
  arena_ends_pass (&ends, &sent[0]);
  kept = arena_ends_take (&ends, &sent[1]);
  for (guint lap = 0; lap < 5; lap++)
    {
      for (guint i = 2; i < COUNT + 1; i++)
        sent[i] = arena_ends_send (&ends, SEGMENT, i);
      view = arena_ends_take (&ends, &sent[COUNT]);
      g_assert_cmpuint (n_held (&ends), ==, 2);
      g_bytes_unref (view);
      g_assert_cmpuint (released (&ends), ==, 1 + (lap + 1) * (COUNT - 1));
    }

  arena_ends_check (kept, &sent[1]);
  g_bytes_unref (kept);
  g_assert_cmpuint (n_held (&ends), ==, 0);
}

/* The producer's word for a segment is judged: none that isn't there, none that is held. */
static void
test_any_wild_segments (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) kept = NULL;
  ArenaSent first, sent;
  ArenaWord *word;
  guint64 index;

  arena_ends_open_any (&ends, SEGMENT, COUNT);
  first = arena_ends_send (&ends, SEGMENT, 1);
  kept = arena_ends_take (&ends, &first);
  sent = arena_ends_send (&ends, SEGMENT, 2);
  word = arena_channel_segment (ends.storage->channel, sent.span);
  index = atomic_load (word);
  g_assert_cmpuint (index * ends.storage->channel->geometry.stride, ==, sent.offset);

  atomic_store (word, COUNT);
  refuse_end (&ends, sent.span, ARENA_ERROR_PROTOCOL);
  atomic_store (word, G_MAXUINT64);
  refuse_end (&ends, sent.span, ARENA_ERROR_PROTOCOL);
  atomic_store (word, atomic_load (arena_channel_segment (ends.storage->channel, first.span)));
  refuse_end (&ends, sent.span, ARENA_ERROR_PROTOCOL);
  g_assert_cmpuint (released (&ends), ==, 0);

  /* Another one that is free: then the offset is not in it. */
  atomic_store (word, (index + 1) % COUNT);
  refuse_read (&ends, sent.span, sent.offset, 1, ARENA_ERROR_PROTOCOL);
}

static void
test_wild_ranges (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  guint64 start;
  ArenaSent sent;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  sent = arena_ends_send (&ends, SEGMENT, 0);
  arena_ends_pass (&ends, &sent);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  start = sent.offset;

  refuse_read (&ends, sent.span, start, SEGMENT + 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, start + 1, SEGMENT, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, start - 1, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, start + SEGMENT, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, 0, SEGMENT, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, G_MAXUINT64, 1, ARENA_ERROR_PROTOCOL);
  refuse_read (&ends, sent.span, start, G_MAXSIZE, ARENA_ERROR_PROTOCOL);
  arena_ends_pass (&ends, &sent);
}

static void
test_without_producer (void)
{
  g_autoptr (ArenaPool) pool = arena_pool_new (SEGMENT, COUNT, NULL);
  g_auto (ArenaEnds) ends = { .reader = arena_backend_open_reader (ARENA_BACKEND (pool), NULL) };

  refuse_read (&ends, COUNT, 0, 1, ARENA_ERROR_INVALID_STATE);
  refuse_end (&ends, COUNT, ARENA_ERROR_INVALID_STATE);
}

static gboolean
is_readable (int fd)
{
  struct pollfd event = { .fd = fd, .events = POLLIN };

  return poll (&event, 1, 0) == 1;
}

/* Protocol 3.2: one write per crossing, none otherwise. */
static void
test_wakes_on_crossing (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaChannel *channel;
  ArenaSent sent;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  channel = ends.storage->channel;
  sent = arena_ends_send (&ends, SEGMENT, 1);
  arena_ends_pass (&ends, &sent);
  g_assert_false (is_readable (channel->wake_producer));

  atomic_store (&channel->cp->want_released, 3);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  arena_ends_pass (&ends, &sent);
  g_assert_false (is_readable (channel->wake_producer));
  sent = arena_ends_send (&ends, SEGMENT, 1);
  arena_ends_pass (&ends, &sent);
  g_assert_true (is_readable (channel->wake_producer));
}

/* Protocol 2.3: a release after close writes nothing shared. */
static void
test_closed (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaSent first, second;
  GBytes *view;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  first = arena_ends_send (&ends, SEGMENT, 1);
  second = arena_ends_send (&ends, SEGMENT, 2);
  view = arena_reader_read (ends.reader, first.span, first.offset, first.size, NULL);
  arena_backend_close (ends.backend, NULL);

  g_assert_true (arena_reader_end_unit (ends.reader, first.span, &error));
  g_assert_no_error (error);
  arena_ends_check (view, &first);
  g_bytes_unref (view);
  g_assert_cmpuint (released (&ends), ==, 0);
  refuse_read (&ends, second.span, second.offset, second.size, ARENA_ERROR_CLOSED);
  refuse_end (&ends, second.span, ARENA_ERROR_CLOSED);
  g_assert_false (arena_reader_enter_epoch (ends.reader, 2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

/* Whoever calls the class itself gets the same checks. */
static void
test_class_is_checked_as_well (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaReaderInterface *iface;
  ArenaSent sent;
  GBytes *view;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  iface = ARENA_READER_GET_IFACE (ends.reader);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  view = iface->read (ends.reader, sent.span, sent.offset, sent.size, NULL);
  arena_ends_check (view, &sent);
  g_assert_true (iface->end_unit (ends.reader, sent.span, NULL));
  g_assert_false (iface->end_unit (ends.reader, sent.span, NULL));
  g_assert_cmpuint (released (&ends), ==, 0);
  g_bytes_unref (view);
  g_assert_cmpuint (released (&ends), ==, 1);
}

static void
test_dropped_within_a_unit (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent sent;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  g_bytes_unref (arena_reader_read (ends.reader, sent.span, sent.offset, sent.size, NULL));
  g_clear_object (&ends.reader);
  g_assert_cmpuint (released (&ends), ==, 1);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool-reader/starts-free", test_starts_free);
  arena_test_add ("/arena/pool-reader/releases-when-the-last-view-dies", test_release);
  arena_test_add ("/arena/pool-reader/view-is-the-segment", test_view_is_the_segment);
  arena_test_add ("/arena/pool-reader/unread-unit-goes-back", test_unread_unit_goes_back);
  arena_test_add ("/arena/pool-reader/empty-read-holds-nothing", test_empty_read);
  arena_test_add ("/arena/pool-reader/skipped-units-go-back", test_skipped_units_go_back);
  arena_test_add ("/arena/pool-reader/any/skipped-units-go-back", test_any_skipped);
  arena_test_add ("/arena/pool-reader/any/wild-segments-are-refused", test_any_wild_segments);
  arena_test_add ("/arena/pool-reader/wild-spans-are-refused", test_wild_spans);
  arena_test_add ("/arena/pool-reader/wild-ranges-are-refused", test_wild_ranges);
  arena_test_add ("/arena/pool-reader/nothing-to-read-without-a-producer", test_without_producer);
  arena_test_add ("/arena/pool-reader/wakes-on-crossing-only", test_wakes_on_crossing);
  arena_test_add ("/arena/pool-reader/closed-writes-nothing-shared", test_closed);
  arena_test_add ("/arena/pool-reader/class-is-checked-as-well", test_class_is_checked_as_well);
  arena_test_add ("/arena/pool-reader/dropped-within-a-unit", test_dropped_within_a_unit);
  return g_test_run ();
}
