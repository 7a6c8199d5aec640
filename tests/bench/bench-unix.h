/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bench-peer.h"

G_BEGIN_DECLS

/* The base of what goes between processes: a SOCK_STREAM pair with the kernel's own buffer sizes, send() from one buffer
 * and recv() with MSG_WAITALL into one, so each byte is copied twice by the kernel. */

/* A pair: [0] stays here, [1] is for the peer. */
void   bench_unix_pair    (int         sockets[2]);
/* Orders the base and receives it: ns per unit, from the peer's first send() to the last byte. */
double bench_unix_receive (int         socket,
                           BenchPeer  *peer,
                           guint64    *buffer,
                           gsize       size,
                           guint64     n_units);
/* In the peer. */
void   bench_unix_send    (int         socket,
                           guint64    *source,
                           gsize       size,
                           guint64     n_units);

G_END_DECLS
