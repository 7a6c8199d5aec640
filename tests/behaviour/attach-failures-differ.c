/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* C19: what can't be attached to says why: a size that can't be, a descriptor that is no socket, a peer that is no
 * arena, and one that has left are four different texts. A code stands for what to do, so two share one.
 * (test-hello.c has the other versions.) */

static char *
attach (int        fd,
        ArenaError code)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_producer_new_from_fd (fd, &error));
  g_assert_error (error, ARENA_ERROR, (int) code);
  g_test_message ("%s", error->message);
  return g_strdup (error->message);
}

static int
socket_with (const char *text)
{
  int fds[2];

  g_assert_no_errno (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds));
  if (text != NULL)
    g_assert_cmpint ((int) send (fds[1], text, strlen (text), 0), ==, (int) strlen (text));
  close (fds[1]);
  return fds[0];
}

static void
test (void)
{
  g_autofree char *no_socket = attach (open ("/dev/null", O_RDWR | O_CLOEXEC), ARENA_ERROR_INVALID_ARGUMENT);
  g_autofree char *no_arena = attach (socket_with ("HTTP/1.0 200 OK"), ARENA_ERROR_PROTOCOL);
  g_autofree char *left = attach (socket_with (NULL), ARENA_ERROR_PEER_GONE);
  g_autoptr(GError) no_size = NULL;

  g_assert_null (arena_pool_new (0, 4, &no_size));
  g_assert_error (no_size, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_cmpstr (no_socket, !=, no_arena);
  g_assert_cmpstr (no_arena, !=, left);
  g_assert_cmpstr (left, !=, no_size->message);
  g_assert_cmpstr (no_size->message, !=, no_socket);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/attach-failures-differ", test);
  return g_test_run ();
}
