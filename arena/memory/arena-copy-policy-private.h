/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "memory/arena-copy-private.h"

G_BEGIN_DECLS

#define ARENA_COPY_LEARN_MIN (32 << 10) /* bytes; smaller copies neither teach nor follow */
#define ARENA_COPY_N_COSTS   5

/* Which stores an endpoint's copies use: first what the footprint lets one guess, then what has shown to be faster. Zeroed
 * or initialised; one thread. */
typedef struct
{
  ArenaCopyKind guess;    /* for small copies */
  ArenaCopyKind kind;     /* for the others, now */
  gboolean      trial;    /* that one is on trial, the usual one is the other */
  guint64       usual;    /* cost of the usual one in ps per KiB; 0: not known yet */
  guint         wait;     /* laps between two trials */

  guint64       lap_size; /* bytes */
  guint64       bytes;    /* copied in the running lap */
  guint64       look_at;  /* bytes at which the clock is looked at */
  gint64        started;  /* ns; 0: not running */
  guint         n_laps;   /* since this kind came into use */
  guint         n_hopeless; /* of them, in a trial */
  guint64       costs[ARENA_COPY_N_COSTS]; /* of the last of them */
} ArenaCopyPolicy;

/* @rotation: bytes of the storage that is gone through again and again. @delay: laps before the first trial, different
 * for two endpoints that work side by side, or each would measure the other's trial. */
void arena_copy_policy_init    (ArenaCopyPolicy *self,
                                guint64          rotation,
                                guint            delay);
/* Work was interrupted: the running lap says nothing. */
void arena_copy_policy_restart (ArenaCopyPolicy *self);
/* The clock says @now (ns) at the end of a unit. */
void arena_copy_policy_look    (ArenaCopyPolicy *self,
                                gint64           now);
gint64 arena_copy_policy_clock (void);

static inline ArenaCopyKind
arena_copy_policy_choose (const ArenaCopyPolicy *self,
                          gsize                  size)
{
  return size < ARENA_COPY_LEARN_MIN ? self->guess : self->kind;
}

static inline void
arena_copy_policy_copy (ArenaCopyPolicy *self,
                        void            *destination,
                        const void      *source,
                        gsize            size)
{
  arena_copy (destination, source, size, arena_copy_policy_choose (self, size));
  if (size >= ARENA_COPY_LEARN_MIN)
    self->bytes += size;
}

/* At the end of every unit: almost always one comparison. */
static inline void
arena_copy_policy_end_unit (ArenaCopyPolicy *self)
{
  if (G_UNLIKELY (self->bytes >= self->look_at))
    arena_copy_policy_look (self, arena_copy_policy_clock ());
}

G_END_DECLS
