/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-channel.h"

#include "base/arena-error.h"

#include <poll.h>
#include <unistd.h>

#define THRESHOLD 4096

ArenaChannel *
bench_channel_open (ArenaChannel *channel,
                    int           data_fd,
                    guint64       queue_size,
                    guint64       envelope_size,
                    BenchPeer    *peer,
                    const char   *figure,
                    gsize         size,
                    const int    *fds,
                    guint         n_fds)
{
  const ArenaGeometry no_arena = { .kind = ARENA_KIND_NONE };
  g_autoptr (GError) error = NULL;
  int all[BENCH_MAX_FDS];

  if (channel == NULL)
    channel = arena_channel_new (&no_arena, &error);
  bench_check_error (error, "arena_channel_new");
  arena_channel_set_queue (channel, queue_size, envelope_size, THRESHOLD, &error);
  bench_check_error (error, "arena_channel_set_queue");
  arena_channel_invite (channel, data_fd, &error);
  bench_check_error (error, "arena_channel_invite");

  all[0] = arena_channel_steal_remote (channel, &error);
  bench_check_error (error, "arena_channel_steal_remote");
  for (guint i = 0; i < n_fds; i++)
    all[i + 1] = fds[i];
  bench_peer_start (peer, figure, size, all, n_fds + 1);
  close (all[0]);

  while (!arena_channel_accept (channel, &error))
    {
      struct pollfd socket = { .fd = channel->peer.socket, .events = POLLIN };

      if (!g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
        bench_fail ("arena_channel_accept: %s", error->message);
      g_clear_error (&error);
      poll (&socket, 1, -1);
    }

  return channel;
}

ArenaChannel *
bench_channel_attach (int *data_fd)
{
  g_autoptr (GError) error = NULL;
  ArenaChannel *channel = arena_channel_attach (bench_work_fd (0), data_fd, &error);

  bench_check_error (error, "arena_channel_attach");
  return channel;
}

void
bench_channel_answer (ArenaChannel *channel)
{
  g_autoptr (GError) error = NULL;

  arena_channel_answer (channel, &error);
  bench_check_error (error, "arena_channel_answer");
}
