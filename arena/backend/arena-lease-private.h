/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-reader.h"

G_BEGIN_DECLS

/* Owner of a received unit's storage, held by every view of it. It is open while its reader still hands out views, and
 * ends once it is closed and the last view has died, on whatever thread or inside a collector: then @end is called, and
 * after that the reference on the reader dropped, which holds mapping and channel. No lock and no allocation on that
 * path.
 *
 * Only views hold the reader. A lease that is merely open doesn't, so a reader dropped in the middle of a unit isn't
 * kept alive by its own lease. */
typedef struct _ArenaLease ArenaLease;

typedef gboolean (*ArenaLeaseEnd) (ArenaReader  *reader,
                                   guint64       span,
                                   GError      **error);

/* Where leases whose @end may run on one thread only wait for it: a lock-free stack, any thread pushes. */
typedef struct
{
  _Atomic (ArenaLease *) top;
} ArenaLeaseHome;

/* Returns it open. With a @home, which lives in the reader, @end runs on the calling thread only. */
ArenaLease *arena_lease_new       (ArenaReader     *reader,
                                   guint64          span,
                                   ArenaLeaseEnd    end,
                                   ArenaLeaseHome  *home) G_GNUC_WARN_UNUSED_RESULT;
/* No more views from the reader. Ends the lease if none lives, with what @end says; else TRUE. */
gboolean    arena_lease_close     (ArenaLease      *self,
                                   GError         **error);
/* The reader is gone and with it whatever there was to end. */
void        arena_lease_forget    (ArenaLease      *self);

/* What a view holds. The first is to be taken while the lease is open. */
ArenaLease *arena_lease_ref       (ArenaLease      *self);
void        arena_lease_unref     (ArenaLease      *self);
/* A view of @size bytes of the arena. */
GBytes     *arena_lease_view      (ArenaLease      *self,
                                   gconstpointer    data,
                                   gsize            size) G_GNUC_WARN_UNUSED_RESULT;
/* A view of @bytes (taken over) that holds the lease. */
GBytes     *arena_lease_wrap      (ArenaLease      *self,
                                   GBytes          *bytes) G_GNUC_WARN_UNUSED_RESULT;

/* Ends what other threads have left, in the order in which it came. */
void        arena_lease_home_run  (ArenaLeaseHome  *self);
/* The same for a reader that is gone. */
void        arena_lease_home_drop (ArenaLeaseHome  *self);

G_END_DECLS
