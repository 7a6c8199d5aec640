/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

#include <poll.h>
#include <unistd.h>

#define SEGMENT 1000
#define COUNT   2

static GBytes *
zeros (gsize size)
{
  return g_bytes_new_take (g_malloc0 (size), size);
}

static gboolean
begin (ArenaEnds *ends,
       gsize      size,
       GError   **error)
{
  return arena_writer_begin_unit (ends->writer, size, 0, NULL, error);
}

static void
test_order_of_calls (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = zeros (10);
  g_autoptr (GError) error = NULL;
  guint64 out;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_false (arena_writer_write (ends.writer, bytes, &out, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "write()");
  g_assert_null (arena_writer_reserve (ends.writer, 10, 0, &out, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "reserve()");
  g_assert_false (arena_writer_commit_unit (ends.writer, &out, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "commit_unit()");
  g_assert_true (arena_writer_abort_unit (ends.writer, &error));

  g_assert_true (begin (&ends, 10, &error));
  g_assert_false (begin (&ends, 10, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "unit 0 is still open");
  g_assert_false (arena_writer_start_epoch (ends.writer, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_true (arena_writer_abort_unit (ends.writer, &error));
  g_assert_no_error (error);
}

static void
test_epochs (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_false (arena_writer_start_epoch (ends.writer, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "at least 1");
  g_assert_true (arena_writer_start_epoch (ends.writer, 5, &error));
  g_assert_false (arena_writer_start_epoch (ends.writer, 4, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "at least 5");

  /* A stop of this epoch ends it, of an earlier one doesn't. */
  atomic_store (&ends.storage->channel->cc->stop_epoch, 4);
  g_assert_true (begin (&ends, 1, &error));
  g_assert_true (arena_writer_abort_unit (ends.writer, NULL));
  atomic_store (&ends.storage->channel->cc->stop_epoch, 5);
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

/* F108 */
static void
test_fields_are_aligned (void)
{
  const gsize sizes[] = { 10, 100, 3, 1, 64 };
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  guint64 last = 0;
  guint64 offset;

  arena_ends_open_pool (&ends, 4096, COUNT);
  g_assert_true (begin (&ends, 0, &error));
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GBytes) bytes = zeros (sizes[i]);

      g_assert_true (arena_writer_write (ends.writer, bytes, &offset, &error));
      g_assert_cmpuint (offset % 64, ==, 0);
      g_assert_true (i == 0 || offset >= last + sizes[i - 1]);
      last = offset;
    }

  for (gsize alignment = 64; alignment <= 512; alignment *= 2)
    {
      g_autoptr (GBytes) bytes = arena_writer_reserve (ends.writer, 1, alignment, &offset, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (GPOINTER_TO_SIZE (g_bytes_get_data (bytes, NULL)) % alignment, ==, 0);
    }
}

/* F16, F66, F110 */
static void
test_too_large (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) exact = zeros (SEGMENT);
  g_autoptr (GBytes) more = zeros (SEGMENT + 1);
  g_autoptr (GBytes) one = zeros (1);
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_false (begin (&ends, SEGMENT + 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "1001", "1000");
  g_assert_true (begin (&ends, SEGMENT, &error));
  g_assert_false (arena_writer_write (ends.writer, more, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "1001", "1000");
  g_assert_true (arena_writer_write (ends.writer, exact, NULL, &error));
  g_assert_false (arena_writer_write (ends.writer, one, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "1000");
  g_assert_null (arena_writer_reserve (ends.writer, G_MAXSIZE, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);

  /* It went wrong, and the unit is as it was. */
  g_assert_true (arena_writer_commit_unit (ends.writer, NULL, &error));
  g_assert_no_error (error);
}

static void
test_empty (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) exact = zeros (SEGMENT);
  g_autoptr (GBytes) reserved = NULL;
  g_autoptr (GError) error = NULL;
  guint64 span = 1;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  arena_ends_fill (&ends, SEGMENT);

  /* Takes no storage, so there is nothing to wait for. */
  g_assert_true (begin (&ends, 0, &error));
  g_assert_true (arena_writer_write (ends.writer, nothing, NULL, &error));
  reserved = arena_writer_reserve (ends.writer, 0, 0, NULL, &error);
  g_assert_cmpuint (g_bytes_get_size (reserved), ==, 0);
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, &error));
  g_assert_cmpuint (span, ==, 0);

  /* A segment that was waited for and then not used goes to the next unit. */
  g_assert_true (arena_reader_end_unit (ends.reader, COUNT, &error));
  g_assert_true (begin (&ends, 10, &error));
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, &error));
  g_assert_cmpuint (span, ==, 0);
  g_assert_true (begin (&ends, 10, &error));
  g_assert_true (arena_writer_write (ends.writer, exact, NULL, &error));
  g_assert_true (arena_writer_write (ends.writer, nothing, NULL, &error));
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, &error));
  g_assert_cmpuint (span, ==, 2 * COUNT);
  g_assert_no_error (error);
}

/* H6: else the pool would stop one lap later. */
static void
test_abort_gives_back (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = zeros (10);
  ArenaSent sent;
  guint64 span;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  for (guint i = 0; i < 20; i++)
    {
      g_assert_true (begin (&ends, 10, NULL));
      g_assert_true (arena_writer_write (ends.writer, bytes, NULL, NULL));
      g_assert_true (arena_writer_abort_unit (ends.writer, NULL));
      sent = arena_ends_send (&ends, SEGMENT, i);
      span = sent.span;
      g_assert_cmpuint (span, ==, COUNT + i);
      arena_ends_pass (&ends, &sent);
    }
}

static void
test_closed (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = zeros (10);
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_true (begin (&ends, 10, &error));
  arena_backend_close (ends.backend, NULL);
  g_assert_false (arena_writer_write (ends.writer, bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_null (arena_writer_reserve (ends.writer, 10, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_false (arena_writer_commit_unit (ends.writer, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_true (arena_writer_abort_unit (ends.writer, &error));
  g_assert_false (begin (&ends, 10, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_false (arena_writer_start_epoch (ends.writer, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = zeros (10);
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  arena_ends_fill (&ends, SEGMENT);
  g_assert_true (arena_writer_begin_unit (ends.writer, 0, -1, cancellable, &error));
  g_cancellable_cancel (cancellable);

  /* The unit's own cancellable governs its later waits, and the unit stays. */
  g_assert_false (arena_writer_write (ends.writer, bytes, NULL, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (arena_writer_commit_unit (ends.writer, NULL, &error));
}

static guint64
need (ArenaEnds *ends)
{
  return atomic_load (&ends->storage->channel->cp->need);
}

/* Protocol 3.5: every return but WOULD_BLOCK, and the next call after that one, takes `need` back. */
static void
test_need (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_cmpuint (arena_ends_fill (&ends, SEGMENT), ==, COUNT);
  g_assert_cmpuint (need (&ends), ==, 2 * COUNT + 1);
  g_assert_true (begin (&ends, 0, &error));
  g_assert_cmpuint (need (&ends), ==, 0);
  g_assert_true (arena_writer_commit_unit (ends.writer, NULL, &error));

  g_assert_false (arena_writer_begin_unit (ends.writer, 1, 1000, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "a free segment");
  g_assert_cmpuint (need (&ends), ==, 0);
}

static gboolean
is_told (ArenaEnds *ends)
{
  struct pollfd event = { .fd = ends->storage->channel->wake_consumer, .events = POLLIN };
  guint64 value;

  return poll (&event, 1, 0) == 1 && read (event.fd, &value, sizeof value) == sizeof value;
}

/* H8: a consumer that sleeps on its queue learns that it starves its producer, once per wait and value. */
static void
test_tells_a_sleeping_consumer (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  arena_ends_fill (&ends, SEGMENT);
  g_assert_false (is_told (&ends));

  atomic_store (&ends.storage->channel->cc->want_qhead, 1);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (arena_writer_begin_unit (ends.writer, 1, 1000, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
      g_assert_true (is_told (&ends));
      g_assert_false (is_told (&ends));
    }
}

/* Words of a consumer that has gone wild. */
static void
test_wild_words (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaConsumerPage *cc;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  cc = ends.storage->channel->cc;
  atomic_store (&cc->freed[0], 12345);
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "12345");

  atomic_store (&cc->freed[0], 0);
  arena_ends_fill (&ends, SEGMENT);
  atomic_store (&cc->released, 3);
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "count of releases");
}

static void
free_segment (ArenaEnds *ends,
              guint64    number)
{
  ArenaChannel *channel = ends->storage->channel;
  guint64 sequence = channel->geometry.first_sequence + number;

  atomic_store (&channel->cc->freed[sequence % channel->geometry.n_segments], sequence);
  atomic_fetch_add (&channel->cc->released, 1);
}

static void
expect_segments (ArenaEnds *ends,
                 guint      n)
{
  g_autoptr (GBytes) bytes = zeros (SEGMENT);
  g_autoptr (GError) error = NULL;
  guint64 out;

  for (guint i = 0; i < n; i++)
    {
      g_assert_true (begin (ends, SEGMENT, &error));
      g_assert_true (arena_writer_write (ends->writer, bytes, &out, &error));
      g_assert_true (arena_writer_commit_unit (ends->writer, &out, &error));
    }

  g_assert_false (begin (ends, SEGMENT, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
}

/* One look serves several units, but only for what it has seen. */
static void
test_only_what_is_free (void)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_pool (&ends, SEGMENT, 4);
  expect_segments (&ends, 4);
  free_segment (&ends, 0);
  expect_segments (&ends, 1);
  free_segment (&ends, 3);
  expect_segments (&ends, 0);
  free_segment (&ends, 1);
  expect_segments (&ends, 1);
  free_segment (&ends, 2);
  expect_segments (&ends, 2);
}

static void
test_reserved_is_the_segment (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) view = NULL;
  ArenaSent sent = { .size = SEGMENT, .seed = 9 };
  GBytes *bytes;

  arena_ends_open_pool (&ends, SEGMENT, COUNT);
  g_assert_true (begin (&ends, 0, NULL));
  bytes = arena_writer_reserve (ends.writer, SEGMENT, 4096, &sent.offset, NULL);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (bytes, NULL), SEGMENT, 9);
  g_bytes_unref (bytes);
  g_assert_true (arena_writer_commit_unit (ends.writer, &sent.span, NULL));
  view = arena_ends_take (&ends, &sent);
}

static GBytes *
lend (ArenaEnds *ends,
      ArenaSent *sent)
{
  GBytes *lent;

  *sent = (ArenaSent) { .size = SEGMENT, .seed = 3 };
  g_assert_true (begin (ends, 0, NULL));
  lent = arena_writer_reserve (ends->writer, SEGMENT, 0, &sent->offset, NULL);
  g_assert_nonnull (lent);
  arena_test_fill_pattern ((gpointer) g_bytes_get_data (lent, NULL), SEGMENT, 3);
  g_assert_true (arena_writer_commit_unit (ends->writer, &sent->span, NULL));
  return lent;
}

/* Protocol 3.5: need is 1 + the number of segments that came back but are on loan here. */
static void
test_any_need (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) held = NULL;
  g_autoptr (GBytes) lent = NULL;
  ArenaSent sent;

  arena_ends_open_any (&ends, SEGMENT, COUNT);
  lent = lend (&ends, &sent);
  arena_ends_pass (&ends, &sent);
  sent = arena_ends_send (&ends, SEGMENT, 1);
  held = arena_ends_take (&ends, &sent);

  /* Not BUSY: the consumer can end this one. */
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (need (&ends), ==, 2);
  g_clear_pointer (&lent, g_bytes_unref);
  g_assert_true (begin (&ends, 1, &error));
  g_assert_cmpuint (need (&ends), ==, 0);
  g_assert_true (arena_writer_abort_unit (ends.writer, NULL));
}

/* Protocol 2.6: BUSY only if every segment came back and is on loan, be it before or during the wait. */
static void
test_any_busy (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaSent sent[COUNT];
  GBytes *lent[COUNT];

  arena_ends_open_any (&ends, SEGMENT, COUNT);
  for (guint i = 0; i < COUNT; i++)
    lent[i] = lend (&ends, &sent[i]);
  for (guint i = 0; i < COUNT; i++)
    {
      g_assert_false (begin (&ends, 1, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
      g_assert_cmpuint (need (&ends), ==, 1 + i);
      arena_ends_pass (&ends, &sent[i]);
    }

  g_assert_false (arena_writer_begin_unit (ends.writer, 1, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "as all the others, but field 0 of unit");
  g_assert_cmpuint (need (&ends), ==, 0);
  g_bytes_unref (lent[1]);
  sent[1] = arena_ends_send (&ends, SEGMENT, 4);
  arena_ends_pass (&ends, &sent[1]);
  g_bytes_unref (lent[0]);
}

/* An aborted unit's segment is on loan as long as its buffer lives, and the sequence is used again. */
static void
test_any_abort (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) lent = NULL;
  ArenaSent sent;
  guint64 offset;

  arena_ends_open_any (&ends, SEGMENT, COUNT);
  g_assert_true (begin (&ends, 0, NULL));
  lent = arena_writer_reserve (ends.writer, 10, 0, &offset, NULL);
  g_assert_true (arena_writer_abort_unit (ends.writer, NULL));
  for (guint i = 0; i < 3; i++)
    {
      sent = arena_ends_send (&ends, SEGMENT, i);
      g_assert_cmpuint (sent.span, ==, COUNT + i);
      g_assert_cmpuint (sent.offset, !=, offset);
      arena_ends_pass (&ends, &sent);
    }
}

/* Only the last two sequences of a segment can stand in freed[]. */
static void
test_any_wild_words (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaSent sent;

  arena_ends_open_any (&ends, SEGMENT, COUNT);
  for (guint i = 0; i < 5; i++)
    {
      sent = arena_ends_send (&ends, SEGMENT, i);
      arena_ends_pass (&ends, &sent);
    }
  for (guint i = 0; i < COUNT; i++)
    atomic_store (&ends.storage->channel->cc->freed[i], COUNT);
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "freed sequence");
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool-writer/order-of-calls", test_order_of_calls);
  arena_test_add ("/arena/pool-writer/epochs", test_epochs);
  arena_test_add ("/arena/pool-writer/fields-are-aligned", test_fields_are_aligned);
  arena_test_add ("/arena/pool-writer/too-large-is-immediate", test_too_large);
  arena_test_add ("/arena/pool-writer/empty-takes-nothing", test_empty);
  arena_test_add ("/arena/pool-writer/abort-gives-the-sequence-back", test_abort_gives_back);
  arena_test_add ("/arena/pool-writer/closed", test_closed);
  arena_test_add ("/arena/pool-writer/cancelled", test_cancelled);
  arena_test_add ("/arena/pool-writer/need-is-taken-back", test_need);
  arena_test_add ("/arena/pool-writer/tells-a-sleeping-consumer", test_tells_a_sleeping_consumer);
  arena_test_add ("/arena/pool-writer/wild-words-are-refused", test_wild_words);
  arena_test_add ("/arena/pool-writer/only-what-is-free", test_only_what_is_free);
  arena_test_add ("/arena/pool-writer/reserved-is-the-segment", test_reserved_is_the_segment);
  arena_test_add ("/arena/pool-writer/any/need-counts-loans", test_any_need);
  arena_test_add ("/arena/pool-writer/any/busy-when-all-are-lent", test_any_busy);
  arena_test_add ("/arena/pool-writer/any/abort-gives-back", test_any_abort);
  arena_test_add ("/arena/pool-writer/any/wild-words-are-refused", test_any_wild_words);
  return g_test_run ();
}
