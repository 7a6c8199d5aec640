/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bench-harness.h"

G_BEGIN_DECLS

/* The other process of a figure: this program again, which does what it is told, one command after the other. */

#define BENCH_MAX_FDS 3

typedef struct
{
  GPid pid;
  int  control;
} BenchPeer;

typedef enum
{
  BENCH_LEAVE = 0,
  BENCH_WARM,
  BENCH_OURS,
  BENCH_BASE,
} BenchCommand;

typedef struct
{
  guint64 command;
  guint64 n_units;
} BenchOrder;

/* Starts @figure's work() with @fds and @size; the descriptors are the caller's to close. */
void     bench_peer_start (BenchPeer        *self,
                           const char       *figure,
                           gsize             size,
                           const int        *fds,
                           guint             n_fds);
void     bench_peer_order (BenchPeer        *self,
                           BenchCommand      command,
                           guint64           n_units);
/* What the peer answered: a time in ns. */
gint64   bench_peer_await (BenchPeer        *self);
void     bench_peer_stop  (BenchPeer        *self);

/* In the peer. */
gboolean bench_work_next  (BenchOrder       *order); /* FALSE: leave */
void     bench_work_reply (gint64            time);
int      bench_work_fd    (guint             index); /* what was given as fds[index] */

G_END_DECLS
