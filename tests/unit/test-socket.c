/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"
#include "sync/arena-socket-private.h"

#include "arena-test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a pair is, and what comes along with a message. */

/* SO_PASSPIDFD; the C library of today doesn't know it. */
#define PASS_PIDFD 76

static void
new_pair (int sockets[2])
{
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_socket_pair (sockets, &error));
  g_assert_no_error (error);
}

static void
close_pair (const int sockets[2])
{
  close (sockets[0]);
  close (sockets[1]);
}

static void
test_pair_is_private (void)
{
  int sockets[2];

  new_pair (sockets);
  for (guint i = 0; i < 2; i++)
    {
      int value = 0;
      socklen_t size = sizeof value;

      g_assert_cmpint (fcntl (sockets[i], F_GETFD), ==, FD_CLOEXEC);
      g_assert_no_errno (getsockopt (sockets[i], SOL_SOCKET, SO_TYPE, &value, &size));
      g_assert_cmpint (value, ==, SOCK_SEQPACKET);
      g_assert_no_errno (getsockopt (sockets[i], SOL_SOCKET, SO_PASSCRED, &value, &size));
      g_assert_cmpint (value, ==, 1);
    }
  close_pair (sockets);
}

static void
assert_same_file (int a,
                  int b)
{
  struct stat first;
  struct stat second;

  g_assert_no_errno (fstat (a, &first));
  g_assert_no_errno (fstat (b, &second));
  g_assert_cmpuint (first.st_ino, ==, second.st_ino);
}

static void
test_every_count_of_descriptors (void)
{
  int files[ARENA_SOCKET_MAX_FDS];
  int sockets[2];

  new_pair (sockets);
  for (guint i = 0; i < ARENA_SOCKET_MAX_FDS; i++)
    files[i] = memfd_create ("arena-socket-test", MFD_CLOEXEC);

  for (guint n = 0; n <= ARENA_SOCKET_MAX_FDS; n++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (ArenaMessage) message = { 0 };
      char data[8];

      g_assert_true (arena_socket_send (sockets[0], "fds", 3, files, n, &error));
      g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (message.n_fds, ==, n);
      for (guint i = 0; i < n; i++)
        {
          g_assert_cmpint (fcntl (message.fds[i], F_GETFD), ==, FD_CLOEXEC);
          assert_same_file (message.fds[i], files[i]);
        }
    }

  for (guint i = 0; i < ARENA_SOCKET_MAX_FDS; i++)
    close (files[i]);
  close_pair (sockets);
}

static void
test_stolen_descriptor_stays_open (void)
{
  g_auto (ArenaMessage) message = { 0 };
  char data[8];
  int sockets[2];
  int stolen;

  new_pair (sockets);
  g_assert_true (arena_socket_send (sockets[0], "fds", 3, sockets, 2, NULL));
  g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, NULL));
  stolen = arena_message_steal_fd (&message, 1);
  g_assert_cmpint (arena_message_steal_fd (&message, 1), ==, -1);
  arena_message_clear (&message);
  arena_message_clear (&message);
  assert_same_file (stolen, sockets[1]);
  close (stolen);
  close_pair (sockets);
}

/* Else a return before anything was received would close standard input. */
static void
test_zeroed_message_owns_nothing (void)
{
  ArenaMessage message = { 0 };
  int before = fcntl (0, F_GETFD);

  arena_message_clear (&message);
  g_assert_cmpint (fcntl (0, F_GETFD), ==, before);
}

typedef struct
{
  int sockets[2];
} ChildData;

static int
send_from_child (gpointer data)
{
  const ChildData *child = data;

  close (child->sockets[0]);
  return arena_socket_send (child->sockets[1], "child", 5, NULL, 0, NULL) ? 0 : 1;
}

/* SO_PEERCRED would name this process, which made the pair. */
static void
test_credentials_name_the_sender (void)
{
  g_auto (ArenaMessage) message = { 0 };
  char data[8];
  ChildData child;
  pid_t pid;

  new_pair (child.sockets);
  pid = arena_test_start_child (send_from_child, &child);
  g_assert_cmpint (arena_test_wait_child (pid), ==, 0);
  g_assert_true (arena_socket_receive (child.sockets[0], data, sizeof data, &message, NULL));
  g_assert_cmpint (message.pid, ==, pid);
  g_assert_cmpuint (message.uid, ==, getuid ());
  close_pair (child.sockets);
}

static gboolean
kernel_passes_pidfds (int socket)
{
  const int on = 1;

  return setsockopt (socket, SOL_SOCKET, PASS_PIDFD, &on, sizeof on) == 0;
}

static void
test_pidfd_comes_along (void)
{
  g_auto (ArenaMessage) message = { 0 };
  char data[8];
  int sockets[2];

  new_pair (sockets);
  g_assert_true (arena_socket_send (sockets[0], "x", 1, sockets, 2, NULL));
  g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, NULL));
  if (kernel_passes_pidfds (sockets[1]))
    {
      struct pollfd poll_fd = { .fd = message.pidfd, .events = POLLIN };

      g_assert_cmpint (message.pidfd, >=, 0);
      g_assert_cmpint (fcntl (message.pidfd, F_GETFD), ==, FD_CLOEXEC);
      g_assert_cmpint (poll (&poll_fd, 1, 0), ==, 0);
    }
  else
    g_assert_cmpint (message.pidfd, ==, -1);
  close_pair (sockets);
}

static int
without_pidfds (gpointer data)
{
  ArenaMessage message;
  char text[8];
  int sockets[2];

  arena_test_refuse_syscall (SYS_setsockopt, 2, G_MAXUINT32, PASS_PIDFD, ENOPROTOOPT);
  new_pair (sockets);
  g_assert_true (arena_socket_send (sockets[0], "x", 1, NULL, 0, NULL));
  g_assert_true (arena_socket_receive (sockets[1], text, sizeof text, &message, NULL));
  g_assert_cmpint (message.pidfd, ==, -1);
  g_assert_cmpint (message.pid, ==, getpid ());
  return 0;
}

static void
test_old_kernel_has_no_pidfd (void)
{
  arena_test_assert_child (without_pidfds, NULL);
}

static int
without_credentials (gpointer data)
{
  GError *error = NULL;
  ArenaTestResources resources;
  int sockets[2];

  arena_test_refuse_syscall (SYS_setsockopt, 2, G_MAXUINT32, SO_PASSCRED, EPERM);
  arena_test_resources_begin (&resources);
  g_assert_false (arena_socket_pair (sockets, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "SO_PASSCRED");
  g_assert_cmpint (sockets[0], ==, -1);
  g_assert_cmpint (sockets[1], ==, -1);
  arena_test_resources_end (&resources);

  g_assert_no_errno (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, sockets));
  g_assert_false (arena_socket_adopt (sockets[0], &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "SO_PASSCRED");
  return 0;
}

static void
test_credentials_are_required (void)
{
  arena_test_assert_child (without_credentials, NULL);
}

static void
test_adopt_asks_for_credentials (void)
{
  g_autoptr (GError) error = NULL;
  ArenaMessage message;
  char data[8];
  int sockets[2];

  g_assert_no_errno (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, sockets));
  g_assert_cmpint (send (sockets[0], "x", 1, 0), ==, 1);
  g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, NULL));
  g_assert_cmpint (message.pid, ==, 0);
  g_assert_cmpuint (message.uid, ==, G_MAXUINT);
  arena_message_clear (&message);

  g_assert_true (arena_socket_adopt (sockets[1], &error));
  g_assert_no_error (error);
  g_assert_cmpint (fcntl (sockets[1], F_GETFD), ==, FD_CLOEXEC);
  g_assert_cmpint (send (sockets[0], "x", 1, 0), ==, 1);
  g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, NULL));
  g_assert_cmpint (message.pid, ==, getpid ());
  g_assert_cmpuint (message.uid, ==, getuid ());
  arena_message_clear (&message);
  close_pair (sockets);
}

static void
test_adopt_refuses_what_is_no_seqpacket_socket (void)
{
  GError *error = NULL;
  int stream[2];
  int file = memfd_create ("arena-socket-test", MFD_CLOEXEC);

  g_assert_no_errno (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream));
  g_assert_false (arena_socket_adopt (stream[0], &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "SEQPACKET");
  g_assert_false (arena_socket_adopt (file, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "SEQPACKET");
  close (file);
  g_assert_false (arena_socket_adopt (file, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "SEQPACKET");
  g_assert_false (arena_socket_adopt (-1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "-1");
  close_pair (stream);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/socket/pair-is-private", test_pair_is_private);
  arena_test_add ("/arena/socket/every-count-of-descriptors", test_every_count_of_descriptors);
  arena_test_add ("/arena/socket/stolen-descriptor-stays-open", test_stolen_descriptor_stays_open);
  arena_test_add ("/arena/socket/zeroed-message-owns-nothing", test_zeroed_message_owns_nothing);
  arena_test_add ("/arena/socket/credentials-name-the-sender", test_credentials_name_the_sender);
  arena_test_add ("/arena/socket/pidfd-comes-along", test_pidfd_comes_along);
  arena_test_add ("/arena/socket/old-kernel-has-no-pidfd", test_old_kernel_has_no_pidfd);
  arena_test_add ("/arena/socket/credentials-are-required", test_credentials_are_required);
  arena_test_add ("/arena/socket/adopt-asks-for-credentials", test_adopt_asks_for_credentials);
  arena_test_add ("/arena/socket/adopt-refuses-what-is-no-seqpacket-socket", test_adopt_refuses_what_is_no_seqpacket_socket);
  return g_test_run ();
}
