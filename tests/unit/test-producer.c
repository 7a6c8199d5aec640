/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/arena-pool-private.h"
#include "base/arena-compat-private.h"

/* How a producer comes to be, and how its units end. */

static void
assert_no_producer (int         fd,
                    int         code,
                    const char *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_producer_new_from_fd (fd, &error));
  arena_test_assert_error (error, ARENA_ERROR, code, text);
}

static void
test_bad_descriptors (void)
{
  int pipe_fds[2], sockets[2];

  assert_no_producer (-1, ARENA_ERROR_INVALID_ARGUMENT, "-1");
  assert_no_producer (123456, ARENA_ERROR_INVALID_ARGUMENT, "");

  /* Taken over in any case: the test counts descriptors. */
  g_assert_no_errno (pipe (pipe_fds));
  close (pipe_fds[1]);
  assert_no_producer (pipe_fds[0], ARENA_ERROR_INVALID_ARGUMENT, "");
  g_assert_no_errno (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets));
  close (sockets[1]);
  assert_no_producer (sockets[0], ARENA_ERROR_INVALID_ARGUMENT, "");
}

static void
test_consumer_gone (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
  int fd = arena_consumer_dup_worker_fd (consumer, NULL);
  g_autoptr(ArenaProducer) producer = NULL;
  g_autoptr(GError) error = NULL;

  g_object_unref (consumer);
  producer = arena_producer_new_from_fd (fd, &error);

  /* The invitation was left before: either is right, a wait for ever is not. */
  if (producer == NULL)
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  else
    {
      g_assert_false (arena_producer_wait_iteration (producer, -1, NULL, NULL, &error));
      g_assert_no_error (error);
    }
}

static void
test_hello_without_a_queue (void)
{
  ArenaGeometry geometry;
  g_autoptr(ArenaChannel) channel = NULL;
  g_autoptr(ArenaBackend) pool = arena_test_pool_new (4096, 1);
  g_autofd int data = -1;

  g_assert_true (arena_geometry_init_pool (&geometry, 4096, 1, NULL));
  channel = arena_channel_new (&geometry, NULL);
  data = dup (arena_pool_peek_storage (ARENA_POOL (pool))->data_fd);
  g_assert_true (arena_channel_invite (channel, data, NULL));
  assert_no_producer (arena_channel_steal_remote (channel, NULL), ARENA_ERROR_PROTOCOL, "queue");
}

static void
test_environment (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
  g_autofree char *text = g_strdup_printf ("%d", arena_consumer_dup_worker_fd (consumer, NULL));
  g_autoptr(ArenaProducer) producer = NULL;
  g_autoptr(GError) error = NULL;
  struct sigaction action;

  g_setenv ("ARENA_WORKER_FD", text, TRUE);
  producer = arena_producer_new_from_environment (&error);
  g_assert_no_error (error);
  g_assert_null (g_getenv ("ARENA_WORKER_FD"));
  g_assert_no_errno (sigaction (SIGINT, NULL, &action));
  g_assert_true (action.sa_handler == SIG_IGN);
  signal (SIGINT, SIG_DFL);
  g_object_unref (consumer);
}

static void
test_bad_environment (void)
{
  static const char *const texts[] = { "", "x", "-1", "3 ", "99999999999" };
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_producer_new_from_environment (&error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "ARENA_WORKER_FD is not set");
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_setenv ("ARENA_WORKER_FD", texts[i], TRUE);
      g_assert_null (arena_producer_new_from_environment (&error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "ARENA_WORKER_FD");
    }
  g_unsetenv ("ARENA_WORKER_FD");
}

static void
test_uninitialized (void)
{
  g_autoptr(ArenaProducer) producer = g_object_new (ARENA_TYPE_PRODUCER, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_producer_wait_iteration (producer, -1, NULL, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_null (arena_producer_begin_unit (producer, 0, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_producer_finish_iteration (producer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_producer_fail (producer, "T", "m", NULL, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

/* A builder that outlives its producer says so. */
static void
test_builder_outlives (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
  ArenaProducer *producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnitBuilder) builder = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  builder = g_object_ref (arena_producer_begin_unit (producer, 4096, -1, NULL, NULL));
  g_object_unref (producer);
  g_assert_false (arena_unit_builder_commit (builder, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  arena_unit_builder_abort (builder);
  arena_test_assert_gone (consumer, "");
  g_object_unref (consumer);
}

/* H6: an aborted unit gives its sequence and segment back. */
static void
test_abort_gives_back (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 2), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint i = 0; i < 7; i++)
    {
      ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, 8192, 0, NULL, NULL);

      g_assert_nonnull (builder);
      arena_unit_builder_abort (builder);
      g_assert_true (arena_test_send (producer, 8192, 0, NULL));
      arena_test_receive (consumer, 1, 8192);
    }
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/producer/bad-descriptors", test_bad_descriptors);
  arena_test_add ("/arena/producer/consumer-gone", test_consumer_gone);
  arena_test_add ("/arena/producer/hello-without-a-queue", test_hello_without_a_queue);
  arena_test_add ("/arena/producer/environment", test_environment);
  arena_test_add ("/arena/producer/bad-environment", test_bad_environment);
  arena_test_add ("/arena/producer/uninitialized", test_uninitialized);
  arena_test_add ("/arena/producer/builder-outlives", test_builder_outlives);
  arena_test_add ("/arena/producer/abort-gives-back", test_abort_gives_back);
  return g_test_run ();
}
