/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-peer-private.h"
#include "sync/arena-socket-private.h"

#include "arena-test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A peer is a forked child which holds one end of a socket pair and reads commands from a pipe, so that it dies
 * exactly when it is told to. */

typedef enum
{
  DIE_EXIT_0,
  DIE_EXIT_3,
  DIE_KILLED,
  DIE_ABORT,
  LEAVE_A_CHILD, /* which holds the socket until the pipe ends */
  SHUT_DOWN,     /* hang up and live on until the pipe ends */
} Command;

typedef struct
{
  ArenaPeer peer;
  pid_t     pid;
  int       remote;
  int       commands[2];
} Fixture;

/* The longest wait for something that must happen. */
#define PATIENCE_MS 5000

static int
child_main (gpointer data)
{
  Fixture *self = data;
  char byte;

  close (self->commands[1]);
  close (self->peer.socket);
  while (read (self->commands[0], &byte, 1) == 1)
    switch ((Command) byte)
      {
      case DIE_EXIT_0:
        return 0;
      case DIE_EXIT_3:
        return 3;
      case DIE_KILLED:
        kill (getpid (), SIGKILL);
        break;
      case DIE_ABORT:
        kill (getpid (), SIGTERM);
        break;
      case LEAVE_A_CHILD:
        if (fork () > 0)
          return 0;
        break;
      case SHUT_DOWN:
        close (self->remote);
        break;
      default:
        return 99;
      }

  return 0;
}

static void
fixture_start (Fixture *self,
               gboolean with_pidfd)
{
  int sockets[2];

  arena_peer_init (&self->peer);
  g_assert_true (arena_socket_pair (sockets, NULL));
  g_assert_no_errno (pipe2 (self->commands, O_CLOEXEC));
  self->peer.socket = sockets[0];
  self->remote = sockets[1];
  self->pid = arena_test_start_child (child_main, self);
  close (self->remote);
  close (self->commands[0]);
  if (with_pidfd)
    {
      arena_peer_open_pid (&self->peer, self->pid);
      g_assert_cmpint (self->peer.pidfd, >=, 0);
    }
  g_assert_false (arena_peer_look (&self->peer));
}

static void
fixture_tell (Fixture *self,
              Command  command)
{
  char byte = (char) command;

  g_assert_cmpint (write (self->commands[1], &byte, 1), ==, 1);
}

static void
fixture_stop (Fixture *self)
{
  close (self->commands[1]);
  arena_test_wait_child (self->pid);
  arena_peer_clear (&self->peer);
}

static gboolean
is_gone (gpointer data)
{
  return arena_peer_look (data);
}

static gboolean
has_exited (gpointer data)
{
  ArenaPeer *peer = data;

  arena_peer_look (peer);
  return (atomic_load (&peer->gone) & ARENA_PEER_EXITED) != 0;
}

static void
assert_describes (ArenaPeer  *peer,
                  const char *expected)
{
  g_autofree char *text = arena_peer_describe (peer);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_how_it_ended (void)
{
  const struct
  {
    Command     command;
    const char *text;
  } table[] = {
    { DIE_EXIT_0, "exited with code 0" },
    { DIE_EXIT_3, "exited with code 3" },
    { DIE_KILLED, "killed by signal 9" },
    { DIE_ABORT, "killed by signal 15" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      Fixture fixture;

      fixture_start (&fixture, TRUE);
      assert_describes (&fixture.peer, "still there");
      fixture_tell (&fixture, table[i].command);
      g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
      g_assert_true (arena_peer_is_gone (&fixture.peer));
      /* Twice: asking must not reap. */
      assert_describes (&fixture.peer, table[i].text);
      assert_describes (&fixture.peer, table[i].text);
      fixture_stop (&fixture);
    }
}

static void
test_reaping_stays_with_the_spawner (void)
{
  Fixture fixture;
  int status;

  fixture_start (&fixture, TRUE);
  fixture_tell (&fixture, DIE_EXIT_3);
  g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
  assert_describes (&fixture.peer, "exited with code 3");
  status = arena_test_wait_child (fixture.pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 3);

  /* Now nobody can tell any more. */
  g_assert_true (arena_peer_look (&fixture.peer));
  assert_describes (&fixture.peer, "exited, status unknown: not a child of this process, or already reaped");
  close (fixture.commands[1]);
  arena_peer_clear (&fixture.peer);
}

static void
test_without_pidfd_hang_up_tells (void)
{
  const Command commands[] = { DIE_EXIT_0, DIE_EXIT_3, DIE_KILLED };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      Fixture fixture;

      fixture_start (&fixture, FALSE);
      fixture_tell (&fixture, commands[i]);
      g_assert_true (arena_test_wait_until (is_gone, &fixture.peer, PATIENCE_MS));
      g_assert_cmpuint (atomic_load (&fixture.peer.gone), ==, ARENA_PEER_HUNG_UP);
      assert_describes (&fixture.peer, "hung up");
      fixture_stop (&fixture);
    }
}

/* A debugger, a laptop lid: slow is not dead. */
static void
test_stopped_is_not_gone (void)
{
  Fixture fixture;
  int status;

  fixture_start (&fixture, TRUE);
  g_assert_no_errno (kill (fixture.pid, SIGSTOP));
  g_assert_cmpint (waitpid (fixture.pid, &status, WUNTRACED), ==, fixture.pid);
  g_assert_true (WIFSTOPPED (status));
  g_assert_false (arena_peer_look (&fixture.peer));
  assert_describes (&fixture.peer, "still there");

  g_assert_no_errno (kill (fixture.pid, SIGCONT));
  g_assert_false (arena_peer_look (&fixture.peer));
  fixture_tell (&fixture, DIE_KILLED);
  g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
  fixture_stop (&fixture);
}

/* The grandchild keeps the socket from hanging up; only the pidfd knows. */
static void
test_inherited_socket_does_not_hide_death (void)
{
  Fixture fixture;

  fixture_start (&fixture, TRUE);
  fixture_tell (&fixture, LEAVE_A_CHILD);
  g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
  g_assert_cmpuint (atomic_load (&fixture.peer.gone), ==, ARENA_PEER_EXITED);
  assert_describes (&fixture.peer, "exited with code 0");
  fixture_stop (&fixture);
}

/* Alive but without its end of the socket: as good as gone. */
static void
test_hang_up_of_a_living_peer (void)
{
  Fixture fixture;

  fixture_start (&fixture, TRUE);
  fixture_tell (&fixture, SHUT_DOWN);
  g_assert_true (arena_test_wait_until (is_gone, &fixture.peer, PATIENCE_MS));
  g_assert_cmpuint (atomic_load (&fixture.peer.gone), ==, ARENA_PEER_HUNG_UP);
  assert_describes (&fixture.peer, "hung up");

  /* It stays gone, and more can become known. */
  fixture_tell (&fixture, DIE_EXIT_3);
  g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
  g_assert_cmpuint (atomic_load (&fixture.peer.gone), ==, ARENA_PEER_HUNG_UP | ARENA_PEER_EXITED);
  assert_describes (&fixture.peer, "exited with code 3");
  fixture_stop (&fixture);
}

static void
test_one_process_watches_nothing (void)
{
  ArenaPeer peer;

  arena_peer_init (&peer);
  g_assert_false (arena_peer_is_gone (&peer));
  g_assert_false (arena_peer_look (&peer));
  assert_describes (&peer, "still there");
  arena_peer_open_pid (&peer, getpid ());
  g_assert_false (arena_peer_look (&peer));
  arena_peer_clear (&peer);
  arena_peer_clear (&peer);
}

/* What another process has to say is no death. */
static void
test_a_message_is_no_hang_up (void)
{
  ArenaPeer peer;
  int sockets[2];

  arena_peer_init (&peer);
  g_assert_true (arena_socket_pair (sockets, NULL));
  peer.socket = sockets[0];
  g_assert_true (arena_socket_send (sockets[1], "x", 1, NULL, 0, NULL));
  g_assert_false (arena_peer_look (&peer));
  close (sockets[1]);
  g_assert_true (arena_peer_look (&peer));
  arena_peer_clear (&peer);
}

static int
new_pidfd (pid_t pid)
{
  int fd = (int) syscall (SYS_pidfd_open, pid, 0);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static gboolean
is_open (int fd)
{
  return fcntl (fd, F_GETFD) >= 0;
}

static void
test_spawners_pidfd_takes_precedence (void)
{
  ArenaPeer peer;
  int first = new_pidfd (getpid ());
  int pinned = new_pidfd (getpid ());
  int late = new_pidfd (getpid ());

  arena_peer_init (&peer);
  arena_peer_take_pidfd (&peer, -1, TRUE);
  g_assert_false (peer.pidfd_pinned);

  arena_peer_take_pidfd (&peer, first, FALSE);
  g_assert_cmpint (peer.pidfd, ==, first);
  arena_peer_take_pidfd (&peer, pinned, TRUE);
  g_assert_cmpint (peer.pidfd, ==, pinned);
  g_assert_true (peer.pidfd_pinned);
  g_assert_false (is_open (first));

  arena_peer_take_pidfd (&peer, late, FALSE);
  arena_peer_open_pid (&peer, getpid ());
  g_assert_cmpint (peer.pidfd, ==, pinned);
  g_assert_false (is_open (late));
  arena_peer_clear (&peer);
  g_assert_false (is_open (pinned));
}

static void
test_is_pidfd (void)
{
  int own = (int) syscall (SYS_pidfd_open, getpid (), 0);
  int parents = (int) syscall (SYS_pidfd_open, getppid (), 0);

  g_assert_true (arena_peer_is_pidfd (own));
  g_assert_true (arena_peer_is_pidfd (parents));
  close (own);
  close (parents);
  g_assert_false (arena_peer_is_pidfd (own));
  g_assert_false (arena_peer_is_pidfd (STDERR_FILENO));
  g_assert_false (arena_peer_is_pidfd (-1));
}

static void
test_pids_that_name_nobody (void)
{
  const gint64 pids[] = { 0, -1, G_MININT64, G_MAXINT64, (gint64) G_MAXINT + 1 };
  ArenaPeer peer;

  arena_peer_init (&peer);
  for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
    arena_peer_open_pid (&peer, pids[i]);
  g_assert_cmpint (peer.pidfd, ==, -1);
  g_assert_false (arena_peer_is_gone (&peer));
}

/* It said hello, ended and was reaped before anybody asked. */
static void
test_a_pid_that_is_gone_already (void)
{
  Fixture fixture;

  fixture_start (&fixture, FALSE);
  fixture_tell (&fixture, DIE_EXIT_0);
  g_assert_cmpint (arena_test_wait_child (fixture.pid), ==, 0);
  arena_peer_open_pid (&fixture.peer, fixture.pid);
  g_assert_cmpint (fixture.peer.pidfd, ==, -1);
  g_assert_true (arena_peer_is_gone (&fixture.peer));
  assert_describes (&fixture.peer, "exited, status unknown: not a child of this process, or already reaped");
  close (fixture.commands[1]);
  arena_peer_clear (&fixture.peer);
}

static int
without_pidfd_open (gpointer data)
{
  Fixture fixture;

  arena_test_refuse_syscall (SYS_pidfd_open, 0, 0, 0, GPOINTER_TO_INT (data));
  fixture_start (&fixture, FALSE);
  arena_peer_open_pid (&fixture.peer, fixture.pid);
  g_assert_cmpint (fixture.peer.pidfd, ==, -1);
  g_assert_false (arena_peer_look (&fixture.peer));
  fixture_tell (&fixture, DIE_KILLED);
  g_assert_true (arena_test_wait_until (is_gone, &fixture.peer, PATIENCE_MS));
  g_assert_cmpuint (atomic_load (&fixture.peer.gone), ==, ARENA_PEER_HUNG_UP);
  fixture_stop (&fixture);
  return 0;
}

static void
test_no_pidfd_open_is_hang_up_only (void)
{
  arena_test_assert_child (without_pidfd_open, GINT_TO_POINTER (ENOSYS));
  arena_test_assert_child (without_pidfd_open, GINT_TO_POINTER (EPERM));
  arena_test_assert_child (without_pidfd_open, GINT_TO_POINTER (EMFILE));
}

static int
without_waitid (gpointer data)
{
  Fixture fixture;

  fixture_start (&fixture, TRUE);
  arena_test_refuse_syscall (SYS_waitid, 0, G_MAXUINT32, 3, EINVAL);
  fixture_tell (&fixture, DIE_EXIT_3);
  g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
  assert_describes (&fixture.peer, "exited, status unknown: not a child of this process, or already reaped");
  fixture_stop (&fixture);
  return 0;
}

static void
test_unknown_status_says_so (void)
{
  arena_test_assert_child (without_waitid, NULL);
}

/* A sibling, as an application's own reader and writer are to each other. */
static int
watch_a_stranger (gpointer data)
{
  Fixture *fixture = data;

  if (!arena_test_wait_until (has_exited, &fixture->peer, PATIENCE_MS))
    return 1;

  assert_describes (&fixture->peer, "exited, status unknown: not a child of this process, or already reaped");
  return 0;
}

static void
test_a_stranger_has_no_status (void)
{
  Fixture fixture;
  pid_t watcher;

  fixture_start (&fixture, TRUE);
  watcher = arena_test_start_child (watch_a_stranger, &fixture);
  fixture_tell (&fixture, DIE_EXIT_3);
  g_assert_cmpint (arena_test_wait_child (watcher), ==, 0);
  fixture_stop (&fixture);
}

static void
test_the_hello_brings_the_pidfd (void)
{
  Fixture fixture;
  ArenaMessage message;
  char data[8];
  int sockets[2];
  pid_t pid;

  g_assert_true (arena_socket_pair (sockets, NULL));
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    _exit (arena_socket_send (sockets[1], "hello", 5, NULL, 0, NULL) ? 3 : 99);

  close (sockets[1]);
  arena_peer_init (&fixture.peer);
  fixture.peer.socket = sockets[0];
  g_assert_true (arena_test_wait_until (is_gone, &fixture.peer, PATIENCE_MS));
  g_assert_true (arena_socket_receive (sockets[0], data, sizeof data, &message, NULL));
  g_assert_cmpint (message.pid, ==, pid);

  arena_peer_take_pidfd (&fixture.peer, message.pidfd, FALSE);
  message.pidfd = -1;
  arena_peer_open_pid (&fixture.peer, message.pid);
  g_assert_cmpint (fixture.peer.pidfd, >=, 0);
  g_assert_true (arena_test_wait_until (has_exited, &fixture.peer, PATIENCE_MS));
  assert_describes (&fixture.peer, "exited with code 3");
  arena_test_wait_child (pid);
  arena_message_clear (&message);
  arena_peer_clear (&fixture.peer);
}

static void
test_skipped (void)
{
  g_test_skip ("valgrind has no pidfd_open");
}

/* Only valgrind may be without it: on a kernel that is, these tests fail. */
static void
add_with_pidfd (const char *path,
                void      (*func) (void))
{
  int fd = (int) syscall (SYS_pidfd_open, getpid (), 0);
  gboolean skip = fd < 0 && errno == ENOSYS && arena_test_on_valgrind ();

  if (fd >= 0)
    close (fd);
  arena_test_add (path, skip ? test_skipped : func);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/peer/without-pidfd-hang-up-tells", test_without_pidfd_hang_up_tells);
  arena_test_add ("/arena/peer/one-process-watches-nothing", test_one_process_watches_nothing);
  arena_test_add ("/arena/peer/a-message-is-no-hang-up", test_a_message_is_no_hang_up);
  arena_test_add ("/arena/peer/pids-that-name-nobody", test_pids_that_name_nobody);
  arena_test_add ("/arena/peer/no-pidfd-open-is-hang-up-only", test_no_pidfd_open_is_hang_up_only);
  add_with_pidfd ("/arena/peer/is-pidfd", test_is_pidfd);
  add_with_pidfd ("/arena/peer/how-it-ended", test_how_it_ended);
  add_with_pidfd ("/arena/peer/reaping-stays-with-the-spawner", test_reaping_stays_with_the_spawner);
  add_with_pidfd ("/arena/peer/stopped-is-not-gone", test_stopped_is_not_gone);
  add_with_pidfd ("/arena/peer/inherited-socket-does-not-hide-death", test_inherited_socket_does_not_hide_death);
  add_with_pidfd ("/arena/peer/hang-up-of-a-living-peer", test_hang_up_of_a_living_peer);
  add_with_pidfd ("/arena/peer/spawners-pidfd-takes-precedence", test_spawners_pidfd_takes_precedence);
  add_with_pidfd ("/arena/peer/a-pid-that-is-gone-already", test_a_pid_that_is_gone_already);
  add_with_pidfd ("/arena/peer/unknown-status-says-so", test_unknown_status_says_so);
  add_with_pidfd ("/arena/peer/a-stranger-has-no-status", test_a_stranger_has_no_status);
  add_with_pidfd ("/arena/peer/the-hello-brings-the-pidfd", test_the_hello_brings_the_pidfd);
  return g_test_run ();
}
