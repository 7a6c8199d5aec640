/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-peer.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL_FD 3

void
bench_peer_start (BenchPeer  *self,
                  const char *figure,
                  gsize       size,
                  const int  *fds,
                  guint       n_fds)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *cpu = g_strdup_printf ("%d", bench_settings.cpus[BENCH_PRODUCER]);
  g_autofree char *bytes = g_strdup_printf ("%" G_GSIZE_FORMAT, size);
  const char *argv[] = { program, "--work", figure, cpu, bytes, NULL };
  g_autoptr (GError) error = NULL;
  int sources[1 + BENCH_MAX_FDS];
  int targets[1 + BENCH_MAX_FDS];
  int sockets[2];

  g_assert (n_fds <= BENCH_MAX_FDS);

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    bench_fail ("socketpair: %s", g_strerror (errno));

  for (guint i = 0; i <= n_fds; i++)
    {
      sources[i] = i == 0 ? sockets[1] : fds[i - 1];
      targets[i] = CONTROL_FD + (int) i;
    }

  g_spawn_async_with_pipes_and_fds (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CHILD_INHERITS_STDIN, NULL,
                                    NULL, -1, -1, -1, sources, targets, n_fds + 1, &self->pid, NULL, NULL, NULL,
                                    &error);
  bench_check_error (error, program);
  close (sockets[1]);
  self->control = sockets[0];
}

void
bench_peer_order (BenchPeer    *self,
                  BenchCommand  command,
                  guint64       n_units)
{
  const BenchOrder order = { command, n_units };

  if (send (self->control, &order, sizeof order, MSG_NOSIGNAL) != sizeof order)
    bench_fail ("the other process is gone");
}

gint64
bench_peer_await (BenchPeer *self)
{
  gint64 time;

  if (recv (self->control, &time, sizeof time, 0) != sizeof time)
    bench_fail ("the other process is gone");

  return time;
}

void
bench_peer_stop (BenchPeer *self)
{
  int status;

  bench_peer_order (self, BENCH_LEAVE, 0);
  if (waitpid (self->pid, &status, 0) != self->pid || status != 0)
    bench_fail ("the other process failed");

  close (self->control);
}

gboolean
bench_work_next (BenchOrder *order)
{
  return recv (CONTROL_FD, order, sizeof *order, 0) == sizeof *order && order->command != BENCH_LEAVE;
}

void
bench_work_reply (gint64 time)
{
  if (send (CONTROL_FD, &time, sizeof time, MSG_NOSIGNAL) != sizeof time)
    bench_fail ("the first process is gone");
}

int
bench_work_fd (guint index)
{
  return CONTROL_FD + 1 + (int) index;
}
