/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-backend.h"
#include "backend/arena-recycler-private.h"
#include "backend/arena-stats.h"
#include "memory/arena-fork-mutex-private.h"
#include "memory/arena-mapping-private.h"
#include "sync/arena-channel-private.h"
#include "sync/arena-wait-private.h"

G_BEGIN_DECLS

/* What a pool and a ring have in common in either process: the data file and its one mapping, and the channel.
 * Reference-counted atomically; readers, writers and through them leases hold it. */
typedef struct
{
  gatomicrefcount ref_count;
  ArenaForkMutex  mutex;          /* guards the five below and two more; channel and claimed are constant once claimed */
  ArenaChannel   *channel;
  ArenaMapping   *data;           /* NULL once closed, and in a read-only arena's consumer before its first unit */
  int             data_fd;        /* -1 once unlinked, and in the producer */
  int             claim_fd;       /* read-only arena: an event, signalled until somebody has opened the arena; else -1 */
  _Atomic guint   claimed;        /* fork generation of the process that opened the arena; 0: nobody yet */
  _Atomic guint   writer_opened;  /* each end opens once in an arena's life */
  _Atomic guint   reader_opened;
  ArenaOutputs   *outputs;        /* ring: of the reader's copies */
  gboolean        pin_memory;     /* what the reader gives out is pinned; set before anyone else sees the arena */
  ArenaMapping   *pinned;         /* pool: what was pinned and may still be (guarded by the mutex); else NULL */

  /* Statistics of the consumer: relaxed, and each written by one thread only where nothing else is said. */
  _Atomic guint64 units;
  _Atomic guint64 bytes;
  _Atomic guint64 given_back;     /* units; of a pool only those after close, which nobody is told about (any thread) */
  _Atomic guint64 peak;           /* most segments (ring: bytes) seen in use (any thread) */
  _Atomic guint64 consumer_waits; /* the boundary counts these two */
  _Atomic gint64  consumer_wait_us;
} ArenaStorage;

/* Consumer: reserves the data, maps it (a ring twice) and makes the channel. The nullable @label names the data's file. */
ArenaStorage *arena_storage_new               (const ArenaGeometry  *geometry,
                                               const char           *label,
                                               GCancellable         *cancellable,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;
/* Producer: over an attached channel; takes @data_fd over in any case, maps, populates and, where the arena is read-only,
 * seals. Errors as arena_mapping_new(). */
ArenaStorage *arena_storage_new_attached      (ArenaChannel         *channel,
                                               int                   data_fd,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaStorage *arena_storage_ref               (ArenaStorage         *self);
void          arena_storage_unref             (ArenaStorage         *self);

/* Consumer of a read-only arena: maps the data, of which @fd is a descriptor, once the producer has sealed it. PROTOCOL where
 * it hasn't. */
ArenaMapping *arena_storage_map_sealed        (ArenaStorage         *self,
                                               int                   fd,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;

/* shutdown, close, unlink of pool and ring. Each idempotent, none ends a live view. Where nothing is held, close unpins,
 * and may be called again where that failed; else the last view leaves that to who comes by next. */
gboolean      arena_storage_shutdown          (ArenaStorage         *self,
                                               GError              **error);
gboolean      arena_storage_close             (ArenaStorage         *self,
                                               GError              **error);
gboolean      arena_storage_unlink            (ArenaStorage         *self,
                                               GError              **error);

/* For a writer in another process: leaves a hello in the arena's socket and appends the other end to @fds. Returns its
 * index, or -1. */
int           arena_storage_invite            (ArenaStorage         *self,
                                               GUnixFDList          *fds,
                                               GError              **error);
/* save and load of pool and ring; load returns the storage of a fresh object. */
GVariant     *arena_storage_save              (ArenaStorage         *self,
                                               GUnixFDList          *fds,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaStorage *arena_storage_load              (ArenaKind             kind,
                                               GVariant             *state,
                                               GUnixFDList          *fds,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;

/* Endpoints. open_local_writer attaches a producer page in this process first, unless it was loaded; the other
 * is for a process that attached through a hello. Both give what the geometry's kind asks for. NOT_SUPPORTED ("create a new arena") the
 * second time. */
ArenaWriter  *arena_storage_open_local_writer (ArenaStorage         *self,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaWriter  *arena_storage_open_writer       (ArenaStorage         *self,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaReader  *arena_storage_open_reader       (ArenaStorage         *self,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;

/* To be unlocked with arena_fork_mutex_unlock(). */
gboolean      arena_storage_lock              (ArenaStorage         *self,
                                               GError              **error) G_GNUC_WARN_UNUSED_RESULT;

/* arena-storage-pin.c. What a new reader of @data (NULL: not mapped yet) needs: that it is pinned, or where to copy. */
gboolean      arena_storage_prepare_reader    (ArenaStorage         *self,
                                               ArenaMapping         *data,
                                               GError              **error);
/* For a pool's reader, whose memory @data is: pins it, or says why not, and then it is as it was. */
gboolean      arena_storage_pin               (ArenaStorage         *self,
                                               ArenaMapping         *data,
                                               GError              **error);
/* Unpins where nothing is held; TRUE where there is nothing to do, or to be done yet. */
gboolean      arena_storage_unpin             (ArenaStorage         *self,
                                               GError              **error);
/* For a finalizer: closes, but leaves what is pinned to whoever comes by next. */
void          arena_storage_abandon           (ArenaStorage         *self);

/* The reader was dropped before anything came of it: as if it had never been opened. */
void          arena_storage_forget_reader     (ArenaStorage         *self);

/* arena-storage-stats.c. Units that were received and aren't given back: of a pool, each has views or is being read.
 * Locked. */
guint64       arena_storage_count_held        (ArenaStorage         *self);
/* Keeps the peak. Who receives says what it knows itself: the producer's word for it would be fetched for every unit. */
void          arena_storage_note_use          (ArenaStorage         *self,
                                               guint64               in_use);
/* For stats: any thread, any time, also after close and in a forked child (where nothing is known: zeros). */
ArenaStats   *arena_storage_dup_stats         (ArenaStorage         *self) G_GNUC_WARN_UNUSED_RESULT;

/* The storage behind a backend of this library, or NULL for somebody else's. */
ArenaStorage *arena_backend_peek_storage      (ArenaBackend         *backend);
/* arena-storage-backend.c. All of a backend but load(). */
void          arena_storage_implement_backend (ArenaBackendInterface *iface);

/* One writer per counter: cheaper than an atomic addition, and a reader never sees half of one. */
static inline void
arena_storage_count (_Atomic guint64 *counter,
                     guint64          amount)
{
  atomic_store_explicit (counter, atomic_load_explicit (counter, memory_order_relaxed) + amount, memory_order_relaxed);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaStorage, arena_storage_unref)

G_END_DECLS
