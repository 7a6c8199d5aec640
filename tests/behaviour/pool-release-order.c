/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"
#include "sync/arena-killpoint-private.h"
#include "sync/arena-socket-private.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Protocol 2.3: a release marks the segment, then counts, then wakes. The consumer is killed between any two of the steps,
 * and its producer looks at what it can see. */

typedef struct
{
  int         socket;
  const char *kill_point;
} Setup;

static gboolean
is_accepted (gpointer data)
{
  g_autoptr (GError) error = NULL;

  return arena_channel_accept (data, &error);
}

/* The consumer: makes the arena, hands its other end over, receives one unit, and dies while it gives it back. */
static int
consume (gpointer data)
{
  Setup *setup = data;
  g_autofree char *point = g_strconcat (setup->kill_point, ":1", NULL);
  g_auto (ArenaMessage) message = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaEnds ends = { 0 };
  ArenaGeometry geometry;
  ArenaSent sent;
  GBytes *view;
  int remote;

  g_assert_true (arena_geometry_init_pool (&geometry, 4096, 2, &error));
  ends.storage = arena_storage_new (&geometry, NULL, NULL, &error);
  ends.reader = arena_storage_open_reader (ends.storage, &error);
  g_assert_true (arena_channel_invite (ends.storage->channel, ends.storage->data_fd, &error));
  remote = arena_channel_steal_remote (ends.storage->channel, &error);
  g_assert_true (arena_socket_send (setup->socket, "r", 1, &remote, 1, &error));
  g_assert_true (arena_test_wait_until (is_accepted, ends.storage->channel, 5000));

  g_assert_cmpint (poll (&(struct pollfd) { .fd = setup->socket, .events = POLLIN }, 1, 5000), ==, 1);
  g_assert_true (arena_socket_receive (setup->socket, &sent, sizeof sent, &message, &error));
  view = arena_ends_take (&ends, &sent);
  g_setenv ("ARENA_KILL_POINT", point, TRUE);
  arena_kill_point_reload ();
  g_bytes_unref (view);
  return 1;
}

static void
attach (ArenaEnds *ends,
        int        socket)
{
  g_auto (ArenaMessage) message = { 0 };
  g_autoptr (ArenaChannel) channel = NULL;
  g_autoptr (GError) error = NULL;
  int data_fd = -1;
  char byte;

  g_assert_cmpint (poll (&(struct pollfd) { .fd = socket, .events = POLLIN }, 1, 5000), ==, 1);
  g_assert_true (arena_socket_receive (socket, &byte, 1, &message, &error));
  channel = arena_channel_attach (arena_message_steal_fd (&message, 0), &data_fd, &error);
  g_assert_no_error (error);
  ends->storage = arena_storage_new_attached (channel, data_fd, &error);
  g_assert_no_error (error);
  ends->writer = arena_storage_open_writer (ends->storage, &error);
  g_assert_no_error (error);
  g_assert_true (arena_channel_answer (channel, &error));
}

static void
check (const char *kill_point,
       gboolean    marked,
       gboolean    counted,
       gboolean    woken)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  struct pollfd event = { .events = POLLIN };
  Setup setup = { .kill_point = kill_point };
  ArenaConsumerPage *cc;
  ArenaSent sent;
  int sockets[2];
  int status;
  pid_t pid;

  g_assert_true (arena_socket_pair (sockets, &error));
  setup.socket = sockets[1];
  pid = arena_test_start_child (consume, &setup);
  close (sockets[1]);
  attach (&ends, sockets[0]);
  sent = arena_ends_send (&ends, 4096, 1);
  atomic_store (&ends.storage->channel->cp->want_released, 1);
  g_assert_true (arena_socket_send (sockets[0], &sent, sizeof sent, NULL, 0, &error));
  status = arena_test_wait_child (pid);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  close (sockets[0]);

  cc = ends.storage->channel->cc;
  event.fd = ends.storage->channel->wake_producer;
  g_assert_cmpint (atomic_load (&cc->freed[sent.span % 2]) == sent.span, ==, marked);
  g_assert_cmpuint (atomic_load (&cc->released), ==, counted ? 1 : 0);
  g_assert_cmpint (poll (&event, 1, 0), ==, woken ? 1 : 0);
}

static void
test (void)
{
  check ("before-release", FALSE, FALSE, FALSE);
  check ("after-freed-store", TRUE, FALSE, FALSE);
  check ("after-release-store", TRUE, TRUE, FALSE);
  check ("after-release-wake", TRUE, TRUE, TRUE);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/release-order", test);
  return g_test_run ();
}
