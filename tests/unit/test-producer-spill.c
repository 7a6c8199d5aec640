/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-record.h"
#include "sync/arena-socket-private.h"
#include "unit/arena-unit-builder-private.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* A producer and its consumer in this thread; their arena holds fields of up to SIZE bytes. */

#define SIZE 4096

typedef ArenaTestBoundary Fixture;

static void
set_up (Fixture *f,
        guint    buffer_size)
{
  arena_test_boundary_open (f, arena_test_spilling_new (FALSE, SIZE), buffer_size);
  arena_test_boundary_begin (f);
}

/* So that no further message has room, as with hundreds of units on their way; the answer to the hello is off it. */
static void
fill_socket (Fixture *f)
{
  static const guint8 text[2048];

  g_assert_true (arena_test_send (f->producer, 100, -1, NULL));
  g_clear_object (&(ArenaUnit *) { arena_test_next (f->consumer) });
  while (arena_socket_send (f->producer->channel->peer.socket, text, sizeof text, NULL, 0, NULL))
    ;
}

static void
empty_socket (Fixture *f)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (f->consumer);
  static guint8 text[2048];
  ArenaMessage message;

  while (arena_socket_receive (priv->channel->peer.socket, text, sizeof text, &message, NULL))
    arena_message_clear (&message);
}

static ArenaUnitBuilder *
begin (Fixture      *f,
       gint64        timeout,
       GCancellable *cancellable)
{
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder = arena_producer_begin_unit (f->producer, SIZE + 1, timeout, cancellable, &error);
  g_autofree guint8 *bytes = g_malloc (SIZE + 1);

  g_assert_no_error (error);
  arena_test_fill_pattern (bytes, SIZE + 1, f->producer->unit);
  arena_unit_builder_append_address (builder, "x", ARENA_DTYPE_UINT8, (guint64[]) { SIZE + 1 }, 1, (guintptr) bytes,
                                     SIZE + 1, NULL, 0, &error);
  g_assert_no_error (error);
  arena_unit_builder_set_value (builder, g_variant_new_uint64 (f->producer->unit), &error);
  g_assert_no_error (error);
  return builder;
}

static void
assert_arrives (Fixture *f)
{
  g_autoptr(ArenaUnit) unit = arena_test_next (f->consumer);

  arena_test_assert_unit (unit, SIZE + 1);
}

/* Counted where both sides see it; an expected size that never fits is no reason to refuse, nor to take a segment. */
static void
test_sends (void)
{
  Fixture f;

  set_up (&f, 2);
  for (guint i = 1; i <= 3; i++)
    {
      g_autoptr(ArenaStats) stats = NULL;

      g_assert_true (arena_unit_builder_commit (begin (&f, 0, NULL), NULL));
      assert_arrives (&f);
      stats = arena_consumer_dup_stats (f.consumer);
      g_assert_cmpuint (arena_stats_get_spilled_bytes (stats), ==, i * (SIZE + 1));
      g_assert_cmpuint (arena_stats_get_occupancy (stats), ==, 0);
    }
  g_assert_cmpuint (f.producer->spill_number, ==, 3);
  arena_test_boundary_clear (&f);
}

/* A full socket is waited for as the unit was begun with, and after each failure the unit is still open. */
static void
test_full_socket (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  Fixture f;
  ArenaUnitBuilder *builder;

  set_up (&f, 2);
  fill_socket (&f);
  builder = begin (&f, 0, NULL);
  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "room in the socket");
  g_assert_true (arena_unit_builder_is_open (builder));
  arena_unit_builder_abort (builder);

  builder = begin (&f, 20000, NULL);
  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "room in the socket");
  arena_unit_builder_abort (builder);

  builder = begin (&f, -1, cancellable);
  g_cancellable_cancel (cancellable);
  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  empty_socket (&f);
  g_cancellable_reset (cancellable);
  g_assert_true (arena_unit_builder_commit (builder, &error));
  assert_arrives (&f);
  arena_test_boundary_clear (&f);
}

static gpointer
stop_later (gpointer data)
{
  g_autoptr(GError) error = NULL;

  g_usleep (20000);
  arena_consumer_stop (data, 0, NULL, &error);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  return NULL;
}

static void
test_stop_ends_the_wait (void)
{
  g_autoptr(GError) error = NULL;
  GThread *thread;
  Fixture f;

  set_up (&f, 2);
  fill_socket (&f);
  thread = g_thread_new ("stop", stop_later, f.consumer);
  g_assert_false (arena_unit_builder_commit (begin (&f, -1, NULL), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "stopped");
  g_thread_join (thread);
  arena_test_boundary_clear (&f);
}

/* A consumer that is gone is noticed by the send itself, and from then on by everything. */
static void
test_dead_consumer (void)
{
  g_autoptr(GError) error = NULL;
  ArenaUnitBuilder *builder;
  Fixture f;

  set_up (&f, 2);
  builder = begin (&f, -1, NULL);
  g_assert_no_errno (shutdown (arena_consumer_get_private (f.consumer)->channel->peer.socket, SHUT_RDWR));
  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "unit 0", "4097 bytes");
  g_assert_false (arena_unit_builder_is_open (builder));
  g_assert_null (arena_producer_begin_unit (f.producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  arena_test_boundary_clear (&f);
}

/* The same where the kernel allows no more descriptors on their way; and all that is small still passes. */
static int
too_many_in_flight (gpointer data G_GNUC_UNUSED)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  guint64 n_waits;
  Fixture f;

  set_up (&f, 2);
  arena_test_refuse_syscall (SYS_sendmsg, 0, 0, 0, ETOOMANYREFS);
  g_assert_false (arena_unit_builder_commit (begin (&f, 0, NULL), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "unit 0", "4097 bytes", "RLIMIT_NOFILE allows, ",
                           "room");
  g_assert_true (arena_unit_builder_is_open (f.producer->builder));
  arena_unit_builder_abort (f.producer->builder);

  /* Tried again, but not all the time. */
  n_waits = f.producer->waiter.n_waits;
  g_assert_false (arena_unit_builder_commit (begin (&f, 20000, NULL), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT, "RLIMIT_NOFILE allows, ");
  g_assert_cmpuint (f.producer->waiter.n_waits - n_waits, >, 1);
  g_assert_cmpuint (f.producer->waiter.n_waits - n_waits, <, 10);
  arena_unit_builder_abort (f.producer->builder);

  begin (&f, -1, cancellable);
  g_cancellable_cancel (cancellable);
  g_assert_false (arena_unit_builder_commit (f.producer->builder, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  arena_unit_builder_abort (f.producer->builder);
  g_assert_true (arena_test_send (f.producer, 100, -1, NULL));
  g_clear_object (&(ArenaUnit *) { arena_test_next (f.consumer) });
  arena_test_boundary_clear (&f);
  return 0;
}

static void
test_too_many_in_flight (void)
{
  arena_test_assert_child (too_many_in_flight, NULL);
}

/* A packed unit is over, however it failed. */
static void
test_packed (void)
{
  static const guint8 data[SIZE + 1];
  g_autoptr(ArenaRecord) record = arena_record_new ();
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 2);
  fill_socket (&f);
  arena_record_field (record, "x", ARENA_DTYPE_UINT8, (guint64[]) { sizeof data }, 1, NULL, data, sizeof data);
  bytes = arena_record_end (record);
  g_assert_false (arena_producer_send_packed (f.producer, 0, NULL, g_bytes_get_data (bytes, NULL),
                                              g_bytes_get_size (bytes), &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_true (arena_test_send (f.producer, 100, -1, NULL));
  arena_test_boundary_clear (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/producer-spill/sends", test_sends);
  arena_test_add ("/arena/producer-spill/full-socket", test_full_socket);
  arena_test_add ("/arena/producer-spill/stop-ends-the-wait", test_stop_ends_the_wait);
  arena_test_add ("/arena/producer-spill/dead-consumer", test_dead_consumer);
  arena_test_add ("/arena/producer-spill/too-many-in-flight", test_too_many_in_flight);
  arena_test_add ("/arena/producer-spill/packed", test_packed);
  return g_test_run ();
}
