/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-unix.h"

#include "bench-payload.h"

#include <errno.h>
#include <sys/socket.h>

void
bench_unix_pair (int sockets[2])
{
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    bench_fail ("socketpair: %s", g_strerror (errno));
}

double
bench_unix_receive (int        socket,
                    BenchPeer *peer,
                    guint64   *buffer,
                    gsize      size,
                    guint64    n_units)
{
  gint64 end;

  bench_peer_order (peer, BENCH_BASE, n_units);
  for (guint64 i = 0; i < n_units; i++)
    {
      if (recv (socket, buffer, size, MSG_WAITALL) != (gssize) size)
        bench_fail ("recv: %s", g_strerror (errno));
      if (i % 16 == 0)
        bench_payload_sample (buffer, size, i);
    }

  end = bench_now ();
  bench_payload_check (buffer, size, n_units - 1);
  return (double) (end - bench_peer_await (peer)) / (double) n_units;
}

void
bench_unix_send (int      socket,
                 guint64 *source,
                 gsize    size,
                 guint64  n_units)
{
  gint64 start = bench_now ();

  for (guint64 i = 0; i < n_units; i++)
    {
      bench_payload_stamp (source, size, i);
      for (gsize sent = 0; sent < size;)
        {
          gssize n = send (socket, (const guint8 *) source + sent, size - sent, MSG_NOSIGNAL);

          if (n <= 0)
            bench_fail ("send: %s", g_strerror (errno));
          sent += (gsize) n;
        }
    }

  bench_work_reply (start);
}
