/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include <unistd.h>

#include "base/arena-error.h"
#include "memory/arena-memfd-private.h"
#include "sync/arena-channel-private.h"
#include "sync/arena-socket-private.h"

#define QUEUE_SIZE 2
#define ENVELOPE   1024
#define THRESHOLD  512

static ArenaChannel *
new_channel (guint64 n_segments)
{
  ArenaGeometry geometry;
  ArenaChannel *channel;

  g_assert_true (arena_geometry_init_pool (&geometry, 4096, n_segments, NULL));
  channel = arena_channel_new (&geometry, NULL);
  g_assert_nonnull (channel);
  g_assert_true (arena_channel_set_queue (channel, QUEUE_SIZE, ENVELOPE, THRESHOLD, NULL));
  return channel;
}

/* Joins @consumer with a producer's end in this process. */
static ArenaChannel *
join (ArenaChannel *consumer)
{
  ArenaChannel *producer;
  int data = arena_memfd_new ("arena-test", consumer->geometry.data_size, NULL, NULL);
  int received;

  g_assert_true (arena_channel_invite (consumer, data, NULL));
  close (data);
  producer = arena_channel_attach (arena_channel_steal_remote (consumer, NULL), &received, NULL);
  g_assert_nonnull (producer);
  g_assert_cmpint (received, >=, 0);
  close (received);
  g_assert_true (arena_channel_answer (producer, NULL));
  g_assert_true (arena_channel_accept (consumer, NULL));
  return producer;
}

static void
test_join (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (3);
  g_autoptr(ArenaChannel) producer = join (consumer);
  ArenaProducerPage *seen = consumer->cp;
  ArenaProducerPage *own = producer->cp;

  g_assert_cmpuint (producer->geometry.n_segments, ==, 3);
  g_assert_cmpuint (producer->geometry.envelope_size, ==, ENVELOPE);

  atomic_store (&own->qhead, 7);
  g_assert_cmpuint (atomic_load (&seen->qhead), ==, 7);
  atomic_store (&consumer->cc->qtail, 5);
  g_assert_cmpuint (atomic_load (&producer->cc->qtail), ==, 5);
}

/* H4: the segments start as if a lap had gone before; with zeroes a live view could be handed out on the first lap. */
static void
test_freed_starts_before_first (void)
{
  static const guint64 firsts[] = { 0, (G_GUINT64_CONSTANT (1) << 32) - 3, (G_GUINT64_CONSTANT (1) << 53) - 3 };

  for (guint n = 1; n <= 5; n++)
    for (guint k = 0; k < G_N_ELEMENTS (firsts); k++)
      {
        g_autoptr(ArenaChannel) channel = NULL;
        ArenaGeometry geometry;
        guint64 first;

        g_assert_true (arena_geometry_init_pool (&geometry, 64, n, NULL));
        first = geometry.first_sequence = MAX (firsts[k], n);
        channel = arena_channel_new (&geometry, NULL);
        for (guint i = 0; i < n; i++)
          {
            guint64 freed = atomic_load (&channel->cc->freed[i]);

            g_assert_cmpuint (freed % n, ==, i);
            g_assert_cmpuint (freed, <, first);
            g_assert_cmpuint (freed, >=, first - n);
          }
      }
}

static void
test_accept_before_answer (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (1);
  g_autoptr(GError) error = NULL;
  int data = arena_memfd_new ("arena-test", consumer->geometry.data_size, NULL, NULL);

  g_assert_true (arena_channel_invite (consumer, data, NULL));
  close (data);
  g_assert_false (arena_channel_accept (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);

  close (arena_channel_steal_remote (consumer, NULL));
  g_assert_false (arena_channel_accept (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
}

/* F27: one arena, one producer. */
static void
test_handed_over_once (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (1);
  ArenaChannel *producer = join (consumer);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (arena_channel_steal_remote (consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
  g_assert_false (arena_channel_attach_local (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
  arena_channel_unref (producer);
}

static void
test_uninvite (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (2);
  g_autoptr(ArenaChannel) producer = NULL;
  int data = arena_memfd_new ("arena-test", consumer->geometry.data_size, NULL, NULL);

  g_assert_true (arena_channel_invite (consumer, data, NULL));
  arena_channel_uninvite (consumer);
  close (data);
  producer = join (consumer);
  g_assert_nonnull (producer);
}

static void
test_malformed_hello (void)
{
  g_autoptr(GError) error = NULL;
  ArenaHelloMessage hello = { .magic = 42 };
  int sockets[2];
  int data = 99;

  g_assert_true (arena_socket_pair (sockets, NULL));
  g_assert_true (arena_socket_send (sockets[0], &hello, sizeof hello, NULL, 0, NULL));
  g_assert_null (arena_channel_attach (sockets[1], &data, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
  g_assert_cmpint (data, ==, -1);
  close (sockets[0]);
}

/* A socket that nobody has left a hello on. */
static void
test_no_hello (void)
{
  g_autoptr(GError) error = NULL;
  int sockets[2];
  int data = 99;

  g_assert_true (arena_socket_pair (sockets, NULL));
  g_assert_null (arena_channel_attach (sockets[1], &data, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "hello");
  close (sockets[0]);
}

static void
test_malformed_answer (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (1);
  g_autoptr(GError) error = NULL;
  ArenaReplyMessage reply = { .magic = ARENA_REPLY_MAGIC, .version = ARENA_HELLO_VERSION, .page_size = 1 };
  int data = arena_memfd_new ("arena-test", consumer->geometry.data_size, NULL, NULL);
  int remote;

  g_assert_true (arena_channel_invite (consumer, data, NULL));
  close (data);
  remote = arena_channel_steal_remote (consumer, NULL);
  g_assert_true (arena_socket_send (remote, &reply, sizeof reply, NULL, 0, NULL));
  g_assert_false (arena_channel_accept (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
  close (remote);
}

/* A hello with the right words but an unsealed control file: it could shrink under the reader (SIGBUS). */
static void
test_unsealed_page (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (1);
  g_autoptr(GError) error = NULL;
  int data = arena_memfd_new ("arena-test", consumer->geometry.data_size, NULL, NULL);
  int page = consumer->page_fd;
  int received;

  consumer->page_fd = arena_memfd_new ("arena-test", arena_geometry_consumer_page_size (&consumer->geometry), NULL, NULL);
  close (page);
  g_assert_true (arena_channel_invite (consumer, data, NULL));
  close (data);
  g_assert_null (arena_channel_attach (arena_channel_steal_remote (consumer, NULL), &received, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "control file");
}

static void
test_states (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (1);
  g_autoptr(ArenaChannel) producer = join (consumer);
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_channel_check_producer (producer, 1, NULL));
  g_assert_true (arena_channel_check_consumer (consumer, NULL));

  atomic_store (&consumer->cc->stop_epoch, 3);
  g_assert_true (arena_channel_check_producer (producer, 4, NULL));
  g_assert_true (arena_channel_check_producer (producer, 0, NULL));
  g_assert_false (arena_channel_check_producer (producer, 3, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "stopped iteration 3");

  arena_channel_set_state (producer, ARENA_STATE_SHUTDOWN);
  g_assert_false (arena_channel_check_consumer (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "producer");

  /* Only a close ends all calls. */
  arena_channel_set_state (consumer, ARENA_STATE_SHUTDOWN);
  g_assert_true (arena_channel_check_open (consumer, NULL));
  arena_channel_set_state (consumer, ARENA_STATE_CLOSED);
  g_assert_false (arena_channel_check_open (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "This process closed");
  g_assert_false (arena_channel_check_consumer (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "This process closed");
}

static int
use_in_child (gpointer data)
{
  ArenaChannel *channel = data;
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_channel_check_fork (channel, &error));
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  g_assert_false (arena_channel_check_open (channel, NULL));
  arena_channel_set_state (channel, ARENA_STATE_CLOSED); /* would touch a page that isn't there */
  arena_channel_unref (channel);
  return 0;
}

static void
test_forked (void)
{
  g_autoptr(ArenaChannel) consumer = new_channel (1);
  g_autoptr(ArenaChannel) producer = join (consumer);

  arena_test_assert_child (use_in_child, consumer);
  g_assert_true (arena_channel_check_producer (producer, 1, NULL));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/channel/join", test_join);
  arena_test_add ("/arena/channel/freed-starts-before-first", test_freed_starts_before_first);
  arena_test_add ("/arena/channel/accept-before-answer", test_accept_before_answer);
  arena_test_add ("/arena/channel/handed-over-once", test_handed_over_once);
  arena_test_add ("/arena/channel/uninvite", test_uninvite);
  arena_test_add ("/arena/channel/malformed-hello", test_malformed_hello);
  arena_test_add ("/arena/channel/no-hello", test_no_hello);
  arena_test_add ("/arena/channel/malformed-answer", test_malformed_answer);
  arena_test_add ("/arena/channel/unsealed-page", test_unsealed_page);
  arena_test_add ("/arena/channel/states", test_states);
  arena_test_add ("/arena/channel/forked", test_forked);
  return g_test_run ();
}
