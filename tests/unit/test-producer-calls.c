/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A producer's iterations and where it waits in them; the consumer is in the same thread. */

#define SIZE 8192

typedef ArenaTestBoundary Fixture;

static void
set_up (Fixture *f,
        guint    count,
        guint    buffer_size)
{
  arena_test_boundary_open (f, arena_test_pool_new (SIZE, count), buffer_size);
}

static void
test_wait_iteration (void)
{
  g_autoptr(GError) error = NULL;
  guint64 epoch = 99;
  Fixture f;

  set_up (&f, 2, 1);
  g_assert_false (arena_producer_wait_iteration (f.producer, 0, NULL, &epoch, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "the next iteration");
  g_assert_false (arena_producer_wait_iteration (f.producer, 20000, NULL, &epoch, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
  g_assert_false (arena_producer_wait_iteration (f.producer, -2, NULL, &epoch, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);

  arena_test_boundary_begin (&f);
  g_assert_false (arena_producer_wait_iteration (f.producer, 0, NULL, &epoch, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_assert_false (arena_producer_wait_iteration (f.producer, 0, NULL, &epoch, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);

  g_assert_true (arena_consumer_close (f.consumer, -1, NULL, NULL));
  g_assert_false (arena_producer_wait_iteration (f.producer, -1, NULL, &epoch, &error));
  g_assert_no_error (error);
  arena_test_boundary_clear (&f);
}

static gpointer
close_consumer (gpointer data)
{
  g_assert_true (arena_consumer_close (data, -1, NULL, NULL));
  return NULL;
}

/* At whatever moment of a wait the consumer closes, that is the end and no error. */
static void
test_close_races_a_wait (void)
{
  for (guint i = 0; i < 300; i++)
    {
      g_autoptr(GError) error = NULL;
      GThread *thread;
      Fixture f;

      set_up (&f, 1, 1);
      thread = g_thread_new ("close", close_consumer, f.consumer);
      g_assert_false (arena_producer_wait_iteration (f.producer, -1, NULL, NULL, &error));
      g_assert_no_error (error);
      g_thread_join (thread);
      arena_test_boundary_clear (&f);
    }
}

static void
test_states (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 2, 1);
  g_assert_null (arena_producer_begin_unit (f.producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_producer_finish_iteration (f.producer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_producer_fail (f.producer, "T", "m", NULL, -1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);

  arena_test_boundary_begin (&f);
  g_assert_null (arena_producer_begin_unit (f.producer, 0, -2, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_nonnull (arena_producer_begin_unit (f.producer, 0, -1, NULL, NULL));
  g_assert_null (arena_producer_begin_unit (f.producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "open unit");
  g_assert_false (arena_producer_fail (f.producer, "T", "m", NULL, -2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);

  /* An open unit is aborted: the consumer sees the end and nothing else. */
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_assert_end (f.consumer);
  arena_test_boundary_clear (&f);
}

/* The queue holds buffer-size units; END still goes in. */
static void
test_queue_full (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 4, 2);
  arena_test_boundary_begin (&f);
  for (guint i = 0; i < 2; i++)
    g_assert_true (arena_test_send (f.producer, 10, 0, NULL));
  g_assert_false (arena_test_send (f.producer, 10, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "room in the queue");
  g_assert_false (arena_test_send (f.producer, 10, 20000, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "room in the queue");
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_receive (f.consumer, 2, 10);
  arena_test_assert_end (f.consumer);
  arena_test_boundary_clear (&f);
}

/* The unit's deadline and cancellable govern the wait of its first big field as well. */
static void
test_field_waits_under_the_units_deadline (void)
{
  const guint64 shape[] = { SIZE };
  g_autoptr(GBytes) data = g_bytes_new_take (g_malloc0 (SIZE), SIZE);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(ArenaUnit) held = NULL;
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder;
  Fixture f;

  set_up (&f, 1, 2);
  arena_test_boundary_begin (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  held = arena_test_next (f.consumer);

  builder = arena_producer_begin_unit (f.producer, 0, 0, NULL, NULL);
  g_assert_cmpint (arena_unit_builder_append_bytes (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, data, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "a free segment");
  arena_unit_builder_abort (builder);

  builder = arena_producer_begin_unit (f.producer, 0, 20000, NULL, NULL);
  g_usleep (30000); /* passed already: still no try */
  g_assert_cmpint (arena_unit_builder_append_bytes (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, data, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "a free segment");
  arena_unit_builder_abort (builder);

  builder = arena_producer_begin_unit (f.producer, 0, -1, cancellable, NULL);
  g_cancellable_cancel (cancellable);
  g_assert_cmpint (arena_unit_builder_append_bytes (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, data, &error), ==, -1);
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  /* The builder is still valid, and the storage comes free. */
  g_clear_object (&held);
  g_cancellable_reset (cancellable);
  g_assert_cmpint (arena_unit_builder_append_bytes (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, data, &error), ==, 0);
  g_assert_true (arena_unit_builder_commit (builder, NULL));
  arena_test_boundary_clear (&f);
}

/* A stop ends the open unit and every wait; the next iteration is untouched by it. */
static void
test_stop (void)
{
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder;
  Fixture f;

  set_up (&f, 3, 2);
  arena_test_boundary_begin (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  builder = arena_producer_begin_unit (f.producer, SIZE, 0, NULL, NULL);
  g_assert_false (arena_consumer_stop (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);

  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "stopped iteration 1");
  arena_unit_builder_abort (builder);
  g_assert_null (arena_producer_begin_unit (f.producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "stopped iteration 1");
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_assert_true (arena_consumer_stop (f.consumer, 0, NULL, NULL));

  arena_test_boundary_begin (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  arena_test_receive (f.consumer, 1, SIZE);
  arena_test_boundary_clear (&f);
}

/* H11: the producer never runs after a number that was left out. */
static void
test_skipped_number (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 1, 1);
  for (guint64 wanted = 2; wanted <= 3; wanted++)
    {
      atomic_store (&arena_consumer_get_private (f.consumer)->channel->cc->wanted_epoch, wanted);
      g_assert_false (arena_producer_wait_iteration (f.producer, 0, NULL, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "asks for iteration");
    }
  arena_test_boundary_clear (&f);
}

static void
test_consumer_dropped (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 2, 1);
  arena_test_boundary_begin (&f);
  g_assert_true (arena_test_send (f.producer, 10, 0, NULL));
  g_clear_object (&f.consumer);
  g_assert_false (arena_test_send (f.producer, 10, -1, &error));
  g_assert_true (g_error_matches (error, ARENA_ERROR, ARENA_ERROR_CLOSED) ||
                 g_error_matches (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE));
  g_clear_error (&error);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_assert_false (arena_producer_wait_iteration (f.producer, -1, NULL, NULL, &error));
  g_assert_no_error (error);
  g_object_unref (f.producer);
}

/* Protocol 4: an error of any length is sent, even by a full queue. */
static void
test_fail (void)
{
  g_autofree char *text = g_strnfill (100000, 'z');
  g_autoptr(ArenaRemoteError) remote = NULL;
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 2, 1);
  arena_test_boundary_begin (&f);
  g_assert_true (arena_test_send (f.producer, 10, 0, NULL));
  g_assert_true (arena_producer_fail (f.producer, "T", text, text, -1, NULL));
  arena_test_receive (f.consumer, 1, 10);
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE, "T: zzz");
  remote = arena_consumer_dup_remote_error (f.consumer);
  g_assert_true (g_str_has_suffix (arena_remote_error_get_traceback (remote), "[cut]"));
  arena_test_boundary_clear (&f);
}

/* What the worker's program knew of its error, the consumer's knows too. */
static void
test_fail_with_error (void)
{
  g_autoptr(GError) failure = g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no such picture");
  g_autoptr(GError) bare = g_error_new (g_quark_from_string (""), 0, "%s", "");
  g_autoptr(ArenaRemoteError) remote = NULL;
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 2, 1);
  g_assert_false (arena_producer_fail_with_error (f.producer, failure, 3, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  arena_test_boundary_begin (&f);
  g_assert_false (arena_producer_fail_with_error (f.producer, failure, -2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "-2");
  g_assert_true (arena_producer_fail_with_error (f.producer, failure, 3, NULL));
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE, "item 3", "g-io-error-quark: no such picture");
  remote = arena_consumer_dup_remote_error (f.consumer);
  g_assert_cmpstr (arena_remote_error_get_domain (remote), ==, "g-io-error-quark");
  g_assert_cmpint (arena_remote_error_get_code (remote), ==, G_IO_ERROR_NOT_FOUND);
  g_assert_cmpint (arena_remote_error_get_item (remote), ==, 3);
  g_assert_null (arena_remote_error_get_traceback (remote));

  arena_test_boundary_begin (&f);
  g_assert_true (arena_producer_fail_with_error (f.producer, bare, -1, NULL));
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE);
  arena_test_boundary_clear (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/producer/wait-iteration", test_wait_iteration);
  arena_test_add ("/arena/producer/close-races-a-wait", test_close_races_a_wait);
  arena_test_add ("/arena/producer/states", test_states);
  arena_test_add ("/arena/producer/queue-full", test_queue_full);
  arena_test_add ("/arena/producer/field-waits-under-the-units-deadline", test_field_waits_under_the_units_deadline);
  arena_test_add ("/arena/producer/stop", test_stop);
  arena_test_add ("/arena/producer/skipped-number", test_skipped_number);
  arena_test_add ("/arena/producer/consumer-dropped", test_consumer_dropped);
  arena_test_add ("/arena/producer/fail", test_fail);
  arena_test_add ("/arena/producer/fail-with-error", test_fail_with_error);
  return g_test_run ();
}
