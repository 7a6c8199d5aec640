/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-record.h"

#include <sys/resource.h>

/* Whole units in one call on either side; both are in this thread. */

#define SIZE 8192

static guint8 big[SIZE + 64];

typedef ArenaTestBoundary Fixture;

static void
set_up (Fixture *f)
{
  arena_test_boundary_open (f, arena_test_pool_new (SIZE, 2), 1);
  arena_test_boundary_begin (f);
}

static gboolean
send_size (Fixture  *f,
           gsize     size,
           GError  **error)
{
  g_autoptr(ArenaRecord) record = arena_record_new ();
  g_autoptr(GBytes) bytes = NULL;

  arena_record_field (record, "x", ARENA_DTYPE_UINT8, &(guint64) { size }, 1, NULL, big, size);
  bytes = arena_record_end (record);
  return arena_producer_send_packed (f->producer, 0, NULL, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                                     error);
}

static void
test_sends_a_unit (void)
{
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  arena_test_fill_pattern (big, SIZE, 0);
  send_size (&f, SIZE, &error);
  g_assert_no_error (error);
  unit = arena_test_next (f.consumer);
  bytes = arena_test_dup_bytes (unit);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), big, SIZE);
  arena_test_boundary_clear (&f);
}

/* Nothing is left of a unit that failed: neither an open unit nor a segment. */
static void
test_failures_leave_nothing (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_assert_false (arena_producer_send_packed (f.producer, 0, NULL, NULL, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "record: 0 bytes");
  g_assert_false (arena_producer_send_packed (f.producer, -2, NULL, big, 64, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_false (send_size (&f, SIZE + 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "8193", "8192");

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (send_size (&f, SIZE, NULL));
      g_assert_false (send_size (&f, SIZE, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
      g_clear_object (&(ArenaUnit *) { arena_test_next (f.consumer) });
    }
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_assert_false (send_size (&f, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  arena_test_boundary_clear (&f);
}

static void
limit_files (rlim_t limit)
{
  struct rlimit limits;

  g_assert_no_errno (getrlimit (RLIMIT_FSIZE, &limits));
  limits.rlim_cur = MIN (limit, limits.rlim_max);
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limits));
}

/* An envelope too long for its slot finds no other place. The same slot is free again, so a retry succeeds. */
static void
test_failed_fill_is_aborted (void)
{
  g_autoptr(ArenaRecord) record = arena_record_new ();
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree guint8 *payload = g_malloc0 (20000);
  Fixture f;

  set_up (&f);
  arena_record_payload (record, "t", payload, 20000);
  bytes = arena_record_end (record);
  limit_files (10000);
  g_assert_false (arena_producer_send_packed (f.producer, 0, NULL, g_bytes_get_data (bytes, NULL),
                                              g_bytes_get_size (bytes), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_FSIZE");
  limit_files (RLIM_INFINITY);
  g_assert_true (send_size (&f, 10, NULL));
  arena_test_boundary_clear (&f);
}

static void
test_next_packed (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) storage = NULL;
  g_autofree guint8 *record = NULL;
  g_autofree guint8 *end = NULL;
  ArenaPackedField field;
  gsize size = 1;
  Fixture f;

  set_up (&f);
  g_assert_null (arena_consumer_next_packed (f.consumer, 0, NULL, &size, &storage, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (size, ==, 0);
  g_assert_null (arena_consumer_next_packed (f.consumer, -2, NULL, &size, &storage, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);

  g_assert_true (send_size (&f, SIZE, NULL));
  record = arena_consumer_next_packed (f.consumer, 0, NULL, &size, &storage, &error);
  g_assert_no_error (error);
  arena_record_read (record, size, 0, &field);
  g_assert_cmpstr (field.name, ==, "x");
  g_assert_cmpuint (((const guint64 *) (gconstpointer) record)[1], ==,
                    GPOINTER_TO_SIZE (g_bytes_get_data (storage, NULL)));
  g_assert_cmpuint (((const guint64 *) (gconstpointer) record)[3], ==, 1);

  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_clear_pointer (&storage, g_bytes_unref);
  end = arena_consumer_next_packed (f.consumer, 0, NULL, &size, &storage, &error);
  g_assert_no_error (error);
  g_assert_nonnull (end);
  g_assert_cmpuint (size, ==, 0);
  g_assert_null (storage);
  arena_test_boundary_clear (&f);
}

/* What the envelope says is checked on this path, too, and ends the boundary. */
static void
test_hostile_envelope (void)
{
  g_autoptr(ArenaConsumer) consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 2), 1);
  g_autoptr(GError) error = NULL;
  ArenaTestPeer peer;
  gsize size;

  arena_test_peer_init (&peer, consumer);
  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_peer_publish (&peer, (ArenaSlot) { .epoch = 1, .kind = ARENA_SLOT_UNIT, .envelope_size = 80 });
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (arena_consumer_next_packed (consumer, 0, NULL, &size, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
    }
  arena_test_peer_clear (&peer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/producer/packed/sends-a-unit", test_sends_a_unit);
  arena_test_add ("/arena/producer/packed/failures-leave-nothing", test_failures_leave_nothing);
  arena_test_add ("/arena/producer/packed/failed-fill-is-aborted", test_failed_fill_is_aborted);
  arena_test_add ("/arena/consumer/packed/next", test_next_packed);
  arena_test_add ("/arena/consumer/packed/hostile-envelope", test_hostile_envelope);
  return g_test_run ();
}
