/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bench-peer.h"

#include "sync/arena-channel-private.h"

G_BEGIN_DECLS

/* A channel with a queue and without objects, for what lies below the public API. */

/* Makes one with @queue_size slots of @envelope_size bytes, over @geometry's arena with its data in @data_fd (-1: none);
 * starts the peer with it as descriptor 0 and @fds as the next ones, and waits until it has attached. */
ArenaChannel *bench_channel_open   (ArenaChannel     *channel,
                                    int               data_fd,
                                    guint64           queue_size,
                                    guint64           envelope_size,
                                    BenchPeer        *peer,
                                    const char       *figure,
                                    gsize             size,
                                    const int        *fds,
                                    guint             n_fds);
/* In the peer. */
ArenaChannel *bench_channel_attach (int              *data_fd);
void          bench_channel_answer (ArenaChannel     *channel);

G_END_DECLS
