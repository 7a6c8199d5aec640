/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Every delay the library chooses by itself, in microseconds. Tests shorten them so that none sleeps for long. */
typedef struct
{
  gint64 stall_log;      /* a wait this long is told once, at INFO */
  gint64 join;           /* close: how long a worker may take to leave by itself */
  gint64 terminate;      /* ... after SIGTERM */
  gint64 kill;           /* ... after SIGKILL */
  gint64 dispose_grace;  /* a dropped worker, before SIGKILL */
  gint64 look;           /* a producer that never waits looks after its consumer this often */
  gint64 exit_status;    /* a dead worker's exit status may come this much later than its hang-up */
} ArenaTiming;

extern ArenaTiming arena_timing;

/* Absolute CLOCK_MONOTONIC deadline of a relative timeout: -1 (none) stays -1, 0 (a try) stays 0, sums saturate. */
gint64   arena_deadline_from_timeout (gint64   timeout);
/* INVALID_ARGUMENT for a timeout below -1. */
gboolean arena_timeout_check         (gint64   timeout,
                                      GError **error);

G_END_DECLS
