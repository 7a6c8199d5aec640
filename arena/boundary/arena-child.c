/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-child-private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena-error-private.h"
#include "sync/arena-timing-private.h"

/* Nobody else reaps the child (GLib is told not to), so its pid can't be reused before we have done so, and a pidfd
 * opened after the start is certain to be the child's. Where somebody does (SIGCHLD ignored), the status is unknown.
 */

#define CHILD_FD 3

/* Without a pidfd the end can only be looked for. */
#define LOOK_INTERVAL_US 5000

void
arena_child_init (ArenaChild *self)
{
  *self = (ArenaChild) { .mutex = PTHREAD_MUTEX_INITIALIZER, .pidfd = -1, .wait_status = -1 };
}

gboolean
arena_child_spawn (ArenaChild          *self,
                   const char * const  *argv,
                   const char * const  *envp,
                   const char          *cwd,
                   int                  fd,
                   GError             **error)
{
  const int target_fd = CHILD_FD;
  const GSpawnFlags flags = G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN;
  g_autofree char *fd_text = g_strdup_printf ("%d", CHILD_FD);
  g_auto(GStrv) env = envp != NULL ? g_strdupv ((char **) envp) : g_get_environ ();
  g_autoptr(GError) local_error = NULL;
  gboolean started;

  env = g_environ_setenv (env, "ARENA_WORKER_FD", fd_text, TRUE);
  started = g_spawn_async_with_pipes_and_fds (cwd, argv, (const char * const *) env, flags, NULL, NULL, -1, -1, -1,
                                              &fd, &target_fd, 1, &self->pid, NULL, NULL, NULL, &local_error);
  if (!started)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "Can't start the worker “%s”: %s", argv[0],
                   local_error->message);
      return FALSE;
    }

  self->pidfd = pidfd_open (self->pid, 0);
  return TRUE;
}

/* With the mutex. */
static gboolean
reap_locked (ArenaChild *self)
{
  int status;
  pid_t pid;

  if (self->pid == 0)
    return TRUE;

  do
    pid = waitpid (self->pid, &status, WNOHANG);
  while (pid < 0 && errno == EINTR);

  if (pid == 0)
    return FALSE;

  if (pid > 0)
    self->wait_status = status;
  self->pid = 0;
  return TRUE;
}

/* Looks without waiting; TRUE once the child is gone for good. */
static gboolean
reap (ArenaChild *self)
{
  gboolean reaped;

  pthread_mutex_lock (&self->mutex);
  reaped = reap_locked (self);
  pthread_mutex_unlock (&self->mutex);
  return reaped;
}

static void
sleep_on (ArenaChild *self,
          GPollFD    *cancel,
          gint64      timeout_us)
{
  struct pollfd watch[] = {
    { .fd = self->pidfd, .events = POLLIN },
    { .fd = cancel->fd, .events = POLLIN },
  };
  gint64 slice_us = self->pidfd < 0 ? MIN (timeout_us, LOOK_INTERVAL_US) : timeout_us;
  struct timespec timeout = { slice_us / G_USEC_PER_SEC, (slice_us % G_USEC_PER_SEC) * 1000 };

  ppoll (watch, G_N_ELEMENTS (watch), &timeout, NULL);
}

gboolean
arena_child_wait (ArenaChild    *self,
                  gint64         timeout_us,
                  GCancellable  *cancellable,
                  GError       **error)
{
  gint64 deadline = arena_deadline_from_timeout (MAX (timeout_us, 1));
  GPollFD cancel = { .fd = -1 };
  gboolean have_fd = g_cancellable_make_pollfd (cancellable, &cancel);
  gboolean reaped;

  if (!have_fd)
    cancel.fd = -1;

  while (!(reaped = reap (self)))
    {
      gint64 remaining = deadline - g_get_monotonic_time ();

      if (g_cancellable_set_error_if_cancelled (cancellable, error) || remaining <= 0)
        break;
      sleep_on (self, &cancel, remaining);
    }

  if (have_fd)
    g_cancellable_release_fd (cancellable);
  return reaped;
}

void
arena_child_signal (ArenaChild *self,
                    int         signal_number)
{
  pthread_mutex_lock (&self->mutex);
  /* Where SIGCHLD is ignored the number may be somebody else's by now. */
  if (self->pid != 0 && self->pidfd >= 0)
    pidfd_send_signal (self->pidfd, signal_number, NULL, 0);
  else if (self->pid != 0)
    kill (self->pid, signal_number);
  pthread_mutex_unlock (&self->mutex);
}

void
arena_child_clear (ArenaChild *self)
{
  if (self->pidfd >= 0)
    close (self->pidfd);
  self->pidfd = -1;
}
