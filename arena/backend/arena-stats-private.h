/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-stats.h"

G_BEGIN_DECLS

struct _ArenaStats
{
  guint64 units;              /* received */
  guint64 bytes;              /* received, as stored in the arena */
  guint64 occupancy;          /* bytes of the arena in use now: queued or held */
  guint64 peak_occupancy;
  guint64 held_units;         /* received and not yet given back */
  guint64 consumer_waits;     /* that slept */
  gint64  consumer_wait_time; /* microseconds */
  guint64 producer_waits;
  gint64  producer_wait_time;
  guint64 reserved_bytes;     /* of the data file */
  guint64 resident_bytes;     /* of them in memory */
  guint64 pinned_bytes;       /* page-locked for a device */
  guint64 output_bytes;       /* ring: in buffers that consumers keep or that wait for reuse */
  guint64 spilled_bytes;      /* sent outside of the arena */
};

ArenaStats *arena_stats_new (void) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
