/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"
#include "sync/arena-socket-private.h"

#include "arena-test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What arrives, and what is refused without leaving a descriptor behind. */

/* SO_PASSPIDFD; the C library of today doesn't know it. */
#define PASS_PIDFD 76

#define MANY_FDS 64

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
send_text (int         socket,
           const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_socket_send (socket, text, strlen (text), NULL, 0, &error));
  g_assert_no_error (error);
}

static void
receive_text (int         socket,
              const char *text)
{
  g_autoptr (GError) error = NULL;
  g_auto (ArenaMessage) message = { 0 };
  char data[64] = "";

  g_assert_true (arena_socket_receive (socket, data, sizeof data - 1, &message, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (message.size, ==, strlen (text));
  g_assert_cmpstr (data, ==, text);
  g_assert_cmpuint (message.n_fds, ==, 0);
}

/* What a peer can do that arena_socket_send () can't. */
static void
send_raw (int         socket,
          gsize       size,
          guint       n_fds)
{
  char data[4096] = "";
  int fds[MANY_FDS];
  union
  {
    char           bytes[CMSG_SPACE (sizeof fds)];
    struct cmsghdr align;
  } control = { 0 };
  struct iovec part = { .iov_base = data, .iov_len = size };
  struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
  int file = memfd_create ("arena-socket-test", MFD_CLOEXEC);

  g_assert_cmpuint (n_fds, <=, MANY_FDS);
  for (guint i = 0; i < n_fds; i++)
    fds[i] = file;
  if (n_fds > 0)
    {
      header.msg_control = control.bytes;
      header.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      control.align.cmsg_level = SOL_SOCKET;
      control.align.cmsg_type = SCM_RIGHTS;
      control.align.cmsg_len = CMSG_LEN (n_fds * sizeof (int));
      memcpy (CMSG_DATA (&control.align), fds, n_fds * sizeof (int));
    }

  g_assert_cmpint (sendmsg (socket, &header, 0), ==, (gssize) size);
  close (file);
}

/* A refusal leaves nothing behind, in the message or in the process. */
static void
assert_receive_fails (int         socket,
                      ArenaError  code,
                      const char *text)
{
  GError *error = NULL;
  ArenaMessage message;
  ArenaTestResources resources;
  char data[64];

  arena_test_resources_begin (&resources);
  memset (&message, 0x55, sizeof message);
  g_assert_false (arena_socket_receive (socket, data, sizeof data, &message, &error));
  g_assert_cmpint (message.pidfd, ==, -1);
  g_assert_cmpuint (message.n_fds, ==, 0);
  arena_test_assert_error (error, ARENA_ERROR, (int) code, text);
  arena_test_resources_end (&resources);
}

static void
test_messages_keep_their_bounds (void)
{
  int sockets[2];

  new_pair (sockets);
  send_text (sockets[0], "one");
  send_text (sockets[0], "three");
  send_text (sockets[1], "back");
  receive_text (sockets[1], "one");
  receive_text (sockets[1], "three");
  receive_text (sockets[0], "back");
  close_pair (sockets);
}

/* The descriptors are left as blocking ones: the calls ask by themselves. */
static void
test_nothing_blocks (void)
{
  GError *error = NULL;
  int sockets[2];
  guint n = 0;

  new_pair (sockets);
  assert_receive_fails (sockets[0], ARENA_ERROR_WOULD_BLOCK, "no message");
  while (arena_socket_send (sockets[0], "full", 4, NULL, 0, &error))
    n++;
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "full");
  g_assert_cmpuint (n, >, 0);
  for (guint i = 0; i < n; i++)
    receive_text (sockets[1], "full");
  close_pair (sockets);
}

static int
send_to_the_dead (gpointer data)
{
  GError *error = NULL;
  int sockets[2];

  signal (SIGPIPE, SIG_DFL);
  new_pair (sockets);
  close (sockets[1]);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (arena_socket_send (sockets[0], "x", 1, NULL, 0, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, "closed");
    }
  return 0;
}

static void
test_no_sigpipe (void)
{
  arena_test_assert_child (send_to_the_dead, NULL);
}

static void
test_end_of_file_is_peer_gone (void)
{
  int sockets[2];

  new_pair (sockets);
  close (sockets[1]);
  assert_receive_fails (sockets[0], ARENA_ERROR_PEER_GONE, "closed");
  assert_receive_fails (sockets[0], ARENA_ERROR_PEER_GONE, "closed");
  close (sockets[0]);
}

/* It leaves something unread behind, so the kernel puts ECONNRESET in front of its last words. */
static void
test_last_words_are_heard (void)
{
  int sockets[2];

  for (guint n_unread = 0; n_unread <= 2; n_unread++)
    {
      new_pair (sockets);
      for (guint i = 0; i < n_unread; i++)
        send_text (sockets[0], "unread");
      send_text (sockets[1], "last");
      send_text (sockets[1], "words");
      close (sockets[1]);
      receive_text (sockets[0], "last");
      receive_text (sockets[0], "words");
      assert_receive_fails (sockets[0], ARENA_ERROR_PEER_GONE, "closed");
      close (sockets[0]);
    }
}

/* An empty message is no end of file. */
static void
test_empty_message (void)
{
  ArenaMessage message;
  char data[8];
  int sockets[2];

  new_pair (sockets);
  send_raw (sockets[0], 0, 1);
  g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, NULL));
  g_assert_cmpuint (message.size, ==, 0);
  g_assert_cmpuint (message.n_fds, ==, 1);
  arena_message_clear (&message);
  close_pair (sockets);
}

static void
test_too_long_is_protocol (void)
{
  int sockets[2];

  new_pair (sockets);
  send_raw (sockets[0], 64, 0);
  send_raw (sockets[0], 65, 0);
  send_raw (sockets[0], 4096, 3);
  send_text (sockets[0], "next");
  {
    g_auto (ArenaMessage) message = { 0 };
    char data[64];

    g_assert_true (arena_socket_receive (sockets[1], data, sizeof data, &message, NULL));
    g_assert_cmpuint (message.size, ==, 64);
  }
  assert_receive_fails (sockets[1], ARENA_ERROR_PROTOCOL, "more than 64 bytes");
  assert_receive_fails (sockets[1], ARENA_ERROR_PROTOCOL, "more than 64 bytes");
  receive_text (sockets[1], "next");
  close_pair (sockets);
}

/* Up to some number they still fit in the room for credentials and pidfd, then they are cut off. */
static void
test_too_many_descriptors_are_protocol (void)
{
  int sockets[2];

  for (guint n = ARENA_SOCKET_MAX_FDS + 1; n <= MANY_FDS; n++)
    {
      new_pair (sockets);
      send_raw (sockets[0], 1, n);
      send_text (sockets[0], "next");
      assert_receive_fails (sockets[1], ARENA_ERROR_PROTOCOL, "at most 8");
      receive_text (sockets[1], "next");
      close_pair (sockets);
    }
}

/* Without credentials there is more room, so fewer are cut off. */
static void
test_too_many_descriptors_without_credentials (void)
{
  const int off = 0;
  int sockets[2];

  for (guint n = ARENA_SOCKET_MAX_FDS + 1; n <= 20; n++)
    {
      new_pair (sockets);
      for (guint i = 0; i < 2; i++)
        {
          g_assert_no_errno (setsockopt (sockets[i], SOL_SOCKET, SO_PASSCRED, &off, sizeof off));
          (void) setsockopt (sockets[i], SOL_SOCKET, PASS_PIDFD, &off, sizeof off);
        }
      send_raw (sockets[0], 1, n);
      assert_receive_fails (sockets[1], ARENA_ERROR_PROTOCOL, "at most 8");
      close_pair (sockets);
    }
}

/* Receives while @room more descriptors may be had. Counting needs some itself, so it happens around the limit. */
static void
receive_with_room (int   socket,
                   guint room)
{
  ArenaTestResources resources;
  ArenaMessage message;
  GError *error = NULL;
  struct rlimit before;
  struct rlimit limit;
  char text[8];
  int next = dup (socket);

  /* Numbers are handed out from below, and none below this one is free. */
  close (next);
  arena_test_resources_begin (&resources);
  g_assert_no_errno (getrlimit (RLIMIT_NOFILE, &before));
  limit = before;
  limit.rlim_cur = (rlim_t) next + room;
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limit));
  g_assert_false (arena_socket_receive (socket, text, sizeof text, &message, &error));
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &before));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_NOFILE");
  arena_test_resources_end (&resources);
}

static int
receive_at_the_limit (gpointer data)
{
  int sockets[2];

  new_pair (sockets);
  for (guint room = 0; room < 4; room++)
    {
      send_raw (sockets[0], 1, 4);
      receive_with_room (sockets[1], room);
    }
  return 0;
}

static void
assert_child_at_the_limit (ArenaTestChildFunc func)
{
  if (arena_test_on_valgrind ())
    g_test_skip ("valgrind emulates RLIMIT_NOFILE, but not for sockets");
  else
    arena_test_assert_child (func, NULL);
}

static void
test_own_limit_is_no_space (void)
{
  assert_child_at_the_limit (receive_at_the_limit);
}

static int
pair_at_the_limit (gpointer data)
{
  struct rlimit limit;
  GError *error = NULL;
  int sockets[2];

  g_assert_no_errno (getrlimit (RLIMIT_NOFILE, &limit));
  limit.rlim_cur = 0;
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limit));
  g_assert_false (arena_socket_pair (sockets, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "socketpair");
  g_assert_cmpint (sockets[0], ==, -1);
  g_assert_cmpint (sockets[1], ==, -1);
  return 0;
}

static void
test_pair_without_descriptors_is_no_space (void)
{
  assert_child_at_the_limit (pair_at_the_limit);
}

typedef struct
{
  int        number;
  int        error;
  ArenaError code;
} Refusal;

static int
fail_as_told (gpointer data)
{
  const Refusal *refusal = data;
  ArenaMessage message;
  GError *error = NULL;
  char text[8];
  int sockets[2];

  new_pair (sockets);
  arena_test_refuse_syscall (refusal->number, 0, 0, 0, refusal->error);
  if (refusal->number == SYS_sendmsg)
    g_assert_false (arena_socket_send (sockets[0], "x", 1, NULL, 0, &error));
  else
    g_assert_false (arena_socket_receive (sockets[0], text, sizeof text, &message, &error));
  arena_test_assert_error (error, ARENA_ERROR, (int) refusal->code);
  return 0;
}

static void
test_every_failure_has_its_code (void)
{
  const Refusal refusals[] = {
    { SYS_sendmsg, EPIPE, ARENA_ERROR_PEER_GONE },
    { SYS_sendmsg, ECONNRESET, ARENA_ERROR_PEER_GONE },
    { SYS_sendmsg, EAGAIN, ARENA_ERROR_WOULD_BLOCK },
    { SYS_sendmsg, ETOOMANYREFS, ARENA_ERROR_NO_SPACE },
    { SYS_sendmsg, ENOBUFS, ARENA_ERROR_NO_SPACE },
    { SYS_sendmsg, ENOMEM, ARENA_ERROR_NO_SPACE },
    { SYS_sendmsg, EMSGSIZE, ARENA_ERROR_TOO_LARGE },
    { SYS_sendmsg, EBADF, ARENA_ERROR_INVALID_STATE },
    { SYS_recvmsg, ECONNRESET, ARENA_ERROR_PEER_GONE },
    { SYS_recvmsg, EAGAIN, ARENA_ERROR_WOULD_BLOCK },
    { SYS_recvmsg, ENOMEM, ARENA_ERROR_NO_SPACE },
    { SYS_recvmsg, EBADF, ARENA_ERROR_INVALID_STATE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    arena_test_assert_child (fail_as_told, (gpointer) &refusals[i]);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/socket-messages/too-long-is-protocol", test_too_long_is_protocol);
  arena_test_add ("/arena/socket-messages/too-many-descriptors-are-protocol", test_too_many_descriptors_are_protocol);
  arena_test_add ("/arena/socket-messages/too-many-descriptors-without-credentials", test_too_many_descriptors_without_credentials);
  arena_test_add ("/arena/socket-messages/own-limit-is-no-space", test_own_limit_is_no_space);
  arena_test_add ("/arena/socket-messages/pair-without-descriptors-is-no-space", test_pair_without_descriptors_is_no_space);
  arena_test_add ("/arena/socket-messages/every-failure-has-its-code", test_every_failure_has_its_code);
  arena_test_add ("/arena/socket-messages/messages-keep-their-bounds", test_messages_keep_their_bounds);
  arena_test_add ("/arena/socket-messages/nothing-blocks", test_nothing_blocks);
  arena_test_add ("/arena/socket-messages/no-sigpipe", test_no_sigpipe);
  arena_test_add ("/arena/socket-messages/end-of-file-is-peer-gone", test_end_of_file_is_peer_gone);
  arena_test_add ("/arena/socket-messages/last-words-are-heard", test_last_words_are_heard);
  arena_test_add ("/arena/socket-messages/empty-message", test_empty_message);
  return g_test_run ();
}
