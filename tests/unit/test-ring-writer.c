/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

#define CAPACITY 1000
#define CHARGED  1024

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

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_false (arena_writer_write (ends.writer, bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "write()");
  g_assert_null (arena_writer_reserve (ends.writer, 10, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "reserve()");
  g_assert_false (arena_writer_commit_unit (ends.writer, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "commit_unit()");
  g_assert_true (arena_writer_abort_unit (ends.writer, &error));
  g_assert_true (arena_writer_start_epoch (ends.writer, 1, &error));
  g_assert_true (begin (&ends, 0, &error));
  g_assert_false (begin (&ends, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "still open");
}

/* F98, F99: nothing before the commit, and then every byte with what rounding adds. */
static void
test_span_is_the_end (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) a = zeros (30);
  g_autoptr (GBytes) b = zeros (70);
  ArenaChannel *channel;
  guint64 offset, span;

  arena_ends_open_ring (&ends, CAPACITY);
  channel = ends.storage->channel;
  g_assert_true (begin (&ends, 0, NULL));
  g_assert_true (arena_writer_write (ends.writer, a, &offset, NULL));
  g_assert_cmpuint (offset, ==, 0);
  g_assert_true (arena_writer_write (ends.writer, b, &offset, NULL));
  g_assert_cmpuint (offset, ==, 64);
  g_assert_cmpuint (atomic_load (&channel->cp->committed), ==, 0);
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, NULL));
  g_assert_cmpuint (span, ==, 192);
  g_assert_cmpuint (atomic_load (&channel->cp->committed), ==, 192);

  g_assert_true (arena_reader_end_unit (ends.reader, span, NULL));
  g_assert_cmpuint (atomic_load (&channel->cc->released), ==, 192);
}

/* F66, F101, F102 */
static void
test_too_large (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) half = zeros (CAPACITY / 2 + 100);
  g_autoptr (GBytes) more = zeros (CAPACITY + 1);
  g_autoptr (GError) error = NULL;

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_false (arena_writer_begin_unit (ends.writer, CAPACITY + 1, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "1001", "1000");
  g_assert_true (arena_writer_begin_unit (ends.writer, 0, -1, NULL, &error));
  g_assert_false (arena_writer_write (ends.writer, more, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "1001", "1000");
  g_assert_true (arena_writer_write (ends.writer, half, NULL, &error));
  g_assert_false (arena_writer_write (ends.writer, half, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "600", "1000");
  g_assert_true (arena_writer_commit_unit (ends.writer, NULL, &error));
}

/* F11 */
static void
test_never_more_than_capacity (void)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_cmpuint (arena_ends_fill (&ends, 1), ==, CHARGED / 64);
  for (guint64 span = 64; span <= CHARGED; span += 64)
    g_assert_true (arena_reader_end_unit (ends.reader, span, NULL));
  g_assert_cmpuint (arena_ends_fill (&ends, 65), ==, CHARGED / 128);
}

static void
test_unit_grows (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = zeros (400);
  g_autoptr (GError) error = NULL;
  ArenaSent first;
  guint64 span;

  arena_ends_open_ring (&ends, CAPACITY);
  first = arena_ends_send (&ends, 300, 1);

  /* The second field waits for the first unit; a try says so, and the unit stays as it was. */
  g_assert_true (begin (&ends, 0, &error));
  g_assert_true (arena_writer_write (ends.writer, bytes, NULL, &error));
  g_assert_false (arena_writer_write (ends.writer, bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "room in the ring");
  arena_ends_pass (&ends, &first);
  g_assert_true (arena_writer_write (ends.writer, bytes, NULL, &error));
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, &error));
  g_assert_cmpuint (span, ==, first.span + 448 + 448);
  g_assert_no_error (error);
}

static void
test_abort_gives_back (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) bytes = zeros (500);

  arena_ends_open_ring (&ends, CAPACITY);
  for (guint i = 0; i < 20; i++)
    {
      ArenaSent sent;

      g_assert_true (begin (&ends, CAPACITY, NULL));
      g_assert_true (arena_writer_write (ends.writer, bytes, NULL, NULL));
      g_assert_true (arena_writer_abort_unit (ends.writer, NULL));
      sent = arena_ends_send (&ends, CAPACITY, i);
      g_assert_cmpuint (sent.span, ==, (i + 1) * CHARGED);
      arena_ends_pass (&ends, &sent);
    }
}

static void
test_empty (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GBytes) nothing = g_bytes_new (NULL, 0);
  g_autoptr (GBytes) reserved = NULL;
  guint64 span = 1;

  arena_ends_open_ring (&ends, CAPACITY);
  arena_ends_fill (&ends, CAPACITY);
  g_assert_true (begin (&ends, 0, NULL));
  g_assert_true (arena_writer_write (ends.writer, nothing, NULL, NULL));
  reserved = arena_writer_reserve (ends.writer, 0, 0, NULL, NULL);
  g_assert_nonnull (reserved);
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, NULL));
  g_assert_cmpuint (span, ==, 0);
}

/* Memory is aligned, wherever the unit starts. */
static void
test_alignment (void)
{
  g_auto (ArenaEnds) ends = { 0 };

  arena_ends_open_ring (&ends, 32768);
  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (GBytes) small = zeros (1 + i);
      gsize alignment = (gsize) 64 << (i % 7);
      ArenaSent sent = { .size = 100, .seed = i };
      GBytes *bytes;

      g_assert_true (begin (&ends, 0, NULL));
      g_assert_true (arena_writer_write (ends.writer, small, NULL, NULL));
      bytes = arena_writer_reserve (ends.writer, 100, alignment, &sent.offset, NULL);
      g_assert_cmpuint (GPOINTER_TO_SIZE (g_bytes_get_data (bytes, NULL)) % alignment, ==, 0);
      arena_test_fill_pattern ((gpointer) g_bytes_get_data (bytes, NULL), 100, i);
      g_bytes_unref (bytes);
      g_assert_true (arena_writer_commit_unit (ends.writer, &sent.span, NULL));
      arena_ends_pass (&ends, &sent);
    }
}

/* BUSY only where the consumer has given everything back and a buffer of our own is in the way. */
static void
test_loans (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  guint64 offset, span;
  ArenaSent sent;
  GBytes *lent;

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_true (begin (&ends, 0, NULL));
  lent = arena_writer_reserve (ends.writer, 100, 0, &offset, NULL);
  g_assert_true (arena_writer_commit_unit (ends.writer, &span, NULL));

  /* Room beside the buffer is room. */
  sent = arena_ends_send (&ends, 800, 1);
  g_assert_false (begin (&ends, 300, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  arena_ends_pass (&ends, &sent);
  g_assert_false (begin (&ends, 300, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "field 0 of unit 0");
  g_assert_true (begin (&ends, 60, &error));
  g_assert_true (arena_writer_abort_unit (ends.writer, NULL));

  g_bytes_unref (lent);
  g_assert_true (begin (&ends, 300, &error));
  g_assert_no_error (error);
}

static void
test_loan_of_an_aborted_unit (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  GBytes *lent;

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_true (begin (&ends, 0, NULL));
  lent = arena_writer_reserve (ends.writer, 100, 0, NULL, NULL);
  g_assert_true (arena_writer_abort_unit (ends.writer, NULL));

  /* These very bytes would be next. */
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "field 0 of unit 0");
  g_bytes_unref (lent);
  g_assert_true (begin (&ends, 1, &error));
}

static void
test_wild_words (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;

  arena_ends_open_ring (&ends, CAPACITY);
  arena_ends_fill (&ends, 100);
  atomic_store (&ends.storage->channel->cc->released, 100000);
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "100000");
}

static void
test_closed (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;

  arena_ends_open_ring (&ends, CAPACITY);
  g_assert_true (begin (&ends, 1, NULL));
  arena_backend_close (ends.backend, NULL);
  g_assert_false (arena_writer_commit_unit (ends.writer, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_true (arena_writer_abort_unit (ends.writer, NULL));
  g_assert_false (begin (&ends, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/ring-writer/order-of-calls", test_order_of_calls);
  arena_test_add ("/arena/ring-writer/span-is-the-end", test_span_is_the_end);
  arena_test_add ("/arena/ring-writer/too-large-is-immediate", test_too_large);
  arena_test_add ("/arena/ring-writer/never-more-than-capacity", test_never_more_than_capacity);
  arena_test_add ("/arena/ring-writer/unit-grows", test_unit_grows);
  arena_test_add ("/arena/ring-writer/abort-gives-the-span-back", test_abort_gives_back);
  arena_test_add ("/arena/ring-writer/empty-takes-nothing", test_empty);
  arena_test_add ("/arena/ring-writer/memory-is-aligned", test_alignment);
  arena_test_add ("/arena/ring-writer/loan-is-busy", test_loans);
  arena_test_add ("/arena/ring-writer/loan-of-an-aborted-unit-is-busy", test_loan_of_an_aborted_unit);
  arena_test_add ("/arena/ring-writer/wild-words-are-refused", test_wild_words);
  arena_test_add ("/arena/ring-writer/closed", test_closed);
  return g_test_run ();
}
