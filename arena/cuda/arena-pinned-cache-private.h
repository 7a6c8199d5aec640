/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-device-private.h"

G_BEGIN_DECLS

/* Page-locked buffers, which cost too much to be made for each use. A dropped one waits for the next of its class; the
 * oldest are freed when there are more than wanted. One that streams were recorded for waits for those first. Lives until
 * the last buffer is gone. Any thread. */
typedef struct
{
  guint64 allocated_bytes; /* page-locked now: all of the following */
  guint64 used_bytes;      /* with those who asked for them */
  guint64 cached_bytes;    /* ready to be used again */
  guint64 waiting_bytes;   /* for a device to be done with them, or for CUDA to free them */
  guint64 n_allocations;   /* by CUDA */
  guint64 n_frees;
  guint64 n_reuses;
  gint64  allocation_time; /* in microseconds */
  gint64  free_time;
} ArenaPinnedFigures;

ArenaPinnedCache *arena_pinned_cache_new           (ArenaCudaDevice     *device,
                                                    guint64              max_cached_bytes);
ArenaPinnedCache *arena_pinned_cache_ref           (ArenaPinnedCache    *self);
void              arena_pinned_cache_unref         (ArenaPinnedCache    *self);
/* Frees what is over. */
void              arena_pinned_cache_set_max       (ArenaPinnedCache    *self,
                                                    guint64              max_cached_bytes);
/* The most that may be page-locked at a time; 0: any amount. */
void              arena_pinned_cache_set_limit     (ArenaPinnedCache    *self,
                                                    guint64              limit_bytes);

/* A page-aligned buffer of at least @size bytes (not 0), content undefined; becomes a GBytes through finish(). NO_MEMORY
 * (with the limit and the bytes, where it was that), and what the device says. */
gpointer          arena_pinned_cache_take          (ArenaPinnedCache    *self,
                                                    gsize                size,
                                                    GError             **error);
GBytes           *arena_pinned_cache_finish        (ArenaPinnedCache    *self,
                                                    gpointer             buffer,
                                                    gsize                size) G_GNUC_WARN_UNUSED_RESULT;
/* @stream uses the buffer in which @data is; FALSE where that is none of this cache. */
gboolean          arena_pinned_cache_record_stream (ArenaPinnedCache    *self,
                                                    gconstpointer        data,
                                                    guint64              stream);
/* Frees all that is cached. */
void              arena_pinned_cache_trim          (ArenaPinnedCache    *self);
void              arena_pinned_cache_get_figures   (ArenaPinnedCache    *self,
                                                    ArenaPinnedFigures  *figures);

G_END_DECLS
