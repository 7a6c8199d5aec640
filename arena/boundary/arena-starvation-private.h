/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-pool-private.h"
#include "boundary/arena-queue-private.h"

G_BEGIN_DECLS

/* A consumer that holds every segment its producer could use, and then waits for the next unit, waits for itself. */
typedef struct
{
  ArenaPoolReader *reader;     /* borrowed; NULL: not a pool, which can't starve its producer by holding units */
  guint64         *units;      /* per segment: the number of the unit last received in it */
  gboolean         trying;     /* this wait is a try, which never gives up */
  gint64           since;      /* of this wait; 0: not starving */
  gboolean         told;       /* this wait's signal has been emitted */
  gboolean         logged;
  gboolean         timed_out;  /* the last wait; the next one goes on with it */
} ArenaStarvation;

void     arena_starvation_init     (ArenaStarvation      *self,
                                    ArenaPoolReader      *reader,
                                    guint64               n_segments);
void     arena_starvation_clear    (ArenaStarvation      *self);
void     arena_starvation_note     (ArenaStarvation      *self,
                                    guint                 index,
                                    guint64               unit);
/* A wait begins, or a try. After one that has timed out it is the same starvation, for who waits in short turns. */
void     arena_starvation_reset    (ArenaStarvation      *self,
                                    gboolean              trying);
/* Whether, at this instant, the producer waits for a segment that this process holds while the queue is empty.
 * Only after a poll that showed no death. */
gboolean arena_starvation_check    (ArenaStarvation      *self,
                                    const ArenaQueueIn   *queue);
/* "units 3 and 4 are held, and the producer waits for the segment of unit 3" */
char    *arena_starvation_describe (ArenaStarvation      *self,
                                    const ArenaQueueIn   *queue);

G_END_DECLS
