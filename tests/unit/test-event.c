/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"
#include "sync/arena-event-private.h"

#include "arena-test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static gboolean
is_readable (int fd)
{
  struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

  return poll (&poll_fd, 1, 0) == 1;
}

static int
new_event (void)
{
  g_autoptr (GError) error = NULL;
  int fd = arena_event_new (&error);

  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
test_signals_are_one_wake (void)
{
  int fd = new_event ();

  g_assert_false (is_readable (fd));
  for (guint i = 0; i < 3; i++)
    arena_event_signal (fd);
  g_assert_true (is_readable (fd));
  arena_event_drain (fd);
  g_assert_false (is_readable (fd));
  arena_event_signal (fd);
  g_assert_true (is_readable (fd));
  close (fd);
}

static void
test_close_on_exec (void)
{
  int fd = new_event ();

  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  g_assert_cmpint (fcntl (fd, F_GETFL) & O_NONBLOCK, ==, O_NONBLOCK);
  close (fd);
}

/* In a child: one that blocks is killed by the harness and fails the test. */
static int
drain_like_a_hostile_peer_wants (gpointer data)
{
  int fd = new_event ();

  g_assert_no_errno (fcntl (fd, F_SETFL, 0));
  arena_event_drain (fd);
  arena_event_signal (fd);
  arena_event_drain (fd);
  arena_event_drain (fd);
  g_assert_false (is_readable (fd));
  return 0;
}

static void
test_drain_never_blocks (void)
{
  arena_test_assert_child (drain_like_a_hostile_peer_wants, NULL);
}

static int
drain_on_an_old_kernel (gpointer data)
{
  arena_test_refuse_syscall (SYS_preadv2, 0, 0, 0, GPOINTER_TO_INT (data));
  return drain_like_a_hostile_peer_wants (NULL);
}

static void
test_drain_without_preadv2 (void)
{
  arena_test_assert_child (drain_on_an_old_kernel, GINT_TO_POINTER (EOPNOTSUPP));
  arena_test_assert_child (drain_on_an_old_kernel, GINT_TO_POINTER (ENOSYS));
}

static void
test_full_count_stays_signalled (void)
{
  const guint64 full = G_MAXUINT64 - 1;
  int fd = new_event ();

  g_assert_cmpint (write (fd, &full, sizeof full), ==, sizeof full);
  arena_event_signal (fd);
  g_assert_true (is_readable (fd));
  arena_event_drain (fd);
  g_assert_false (is_readable (fd));
  close (fd);
}

static void
test_errno_is_kept (void)
{
  const guint64 full = G_MAXUINT64 - 1;
  int fd = new_event ();

  errno = E2BIG;
  arena_event_drain (fd);
  g_assert_cmpint (errno, ==, E2BIG);
  g_assert_cmpint (write (fd, &full, sizeof full), ==, sizeof full);
  errno = E2BIG;
  arena_event_signal (fd);
  g_assert_cmpint (errno, ==, E2BIG);
  close (fd);
}

static int
new_at_the_limit (gpointer data)
{
  struct rlimit limit;
  GError *error = NULL;

  g_assert_no_errno (getrlimit (RLIMIT_NOFILE, &limit));
  limit.rlim_cur = 0;
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limit));
  g_assert_cmpint (arena_event_new (&error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "eventfd");
  return 0;
}

static void
test_no_descriptor_is_no_space (void)
{
  arena_test_assert_child (new_at_the_limit, NULL);
}

static void
test_check_knows_an_event (void)
{
  GError *error = NULL;
  int event = new_event ();
  int file = memfd_create ("arena-event-test", MFD_CLOEXEC);
  int pipe_fds[2];

  g_assert_no_errno (pipe2 (pipe_fds, O_CLOEXEC));
  g_assert_true (arena_event_check (event, "the producer's event", &error));
  g_assert_no_error (error);

  g_assert_false (arena_event_check (file, "the producer's event", &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "the producer's event", "memfd", "eventfd");
  g_assert_false (arena_event_check (pipe_fds[0], "the consumer's event", &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "the consumer's event", "pipe");

  close (event);
  close (file);
  close (pipe_fds[0]);
  close (pipe_fds[1]);
}

static int
check_without_proc (gpointer data)
{
#ifdef SYS_readlink
  arena_test_refuse_syscall (SYS_readlink, 0, 0, 0, ENOENT);
#endif
  arena_test_refuse_syscall (SYS_readlinkat, 0, 0, 0, ENOENT);
  return arena_event_check (STDIN_FILENO, "event", NULL) ? 0 : 1;
}

static void
test_check_believes_without_proc (void)
{
  arena_test_assert_child (check_without_proc, NULL);
}

/* Of all copies of a process one is told, and once. */
static int
take_in_child (gpointer data)
{
  return arena_event_take (GPOINTER_TO_INT (data)) ? 1 : 0;
}

static void
test_take_once (void)
{
  int fd = arena_event_new (NULL);
  guint n = 0;

  arena_event_signal (fd);
  for (guint i = 0; i < 3; i++)
    n += WEXITSTATUS (arena_test_run_child (take_in_child, GINT_TO_POINTER (fd)));
  g_assert_cmpuint (n, ==, 1);
  g_assert_false (arena_event_take (fd));
  arena_event_signal (fd);
  g_assert_true (arena_event_take (fd));
  g_assert_false (arena_event_take (fd));
  close (fd);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/event/signals-are-one-wake", test_signals_are_one_wake);
  arena_test_add ("/arena/event/close-on-exec", test_close_on_exec);
  arena_test_add ("/arena/event/drain-never-blocks", test_drain_never_blocks);
  arena_test_add ("/arena/event/drain-without-preadv2", test_drain_without_preadv2);
  arena_test_add ("/arena/event/full-count-stays-signalled", test_full_count_stays_signalled);
  arena_test_add ("/arena/event/errno-is-kept", test_errno_is_kept);
  arena_test_add ("/arena/event/no-descriptor-is-no-space", test_no_descriptor_is_no_space);
  arena_test_add ("/arena/event/check-knows-an-event", test_check_knows_an_event);
  arena_test_add ("/arena/event/take-once", test_take_once);
  arena_test_add ("/arena/event/check-believes-without-proc", test_check_believes_without_proc);
  return g_test_run ();
}
