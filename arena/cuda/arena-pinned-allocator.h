/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "cuda/arena-cuda-context.h"
#include "cuda/arena-pinned-stats.h"

G_BEGIN_DECLS

#define ARENA_TYPE_PINNED_ALLOCATOR (arena_pinned_allocator_get_type ())

ARENA_AVAILABLE_IN_0_1
G_DECLARE_FINAL_TYPE (ArenaPinnedAllocator, arena_pinned_allocator, ARENA, PINNED_ALLOCATOR, GObject)

ARENA_AVAILABLE_IN_0_1
ArenaPinnedAllocator *arena_pinned_allocator_new                  (ArenaCudaContext      *context,
                                                                   GError               **error) G_GNUC_WARN_UNUSED_RESULT;

ARENA_AVAILABLE_IN_0_1
ArenaCudaContext     *arena_pinned_allocator_get_context          (ArenaPinnedAllocator  *self);
ARENA_AVAILABLE_IN_0_1
guint64               arena_pinned_allocator_get_max_cached_bytes (ArenaPinnedAllocator  *self);
ARENA_AVAILABLE_IN_0_1
void                  arena_pinned_allocator_set_max_cached_bytes (ArenaPinnedAllocator  *self,
                                                                   guint64                max_cached_bytes);
ARENA_AVAILABLE_IN_0_1
guint64               arena_pinned_allocator_get_limit_bytes      (ArenaPinnedAllocator  *self);
ARENA_AVAILABLE_IN_0_1
void                  arena_pinned_allocator_set_limit_bytes      (ArenaPinnedAllocator  *self,
                                                                   guint64                limit_bytes);

ARENA_AVAILABLE_IN_0_1
GBytes               *arena_pinned_allocator_alloc                (ArenaPinnedAllocator  *self,
                                                                   gsize                  size,
                                                                   GError               **error) G_GNUC_WARN_UNUSED_RESULT;
ARENA_AVAILABLE_IN_0_1
gboolean              arena_pinned_allocator_record_stream        (ArenaPinnedAllocator  *self,
                                                                   GBytes                *bytes,
                                                                   guint64                stream,
                                                                   GError               **error);
ARENA_AVAILABLE_IN_0_1
void                  arena_pinned_allocator_trim                 (ArenaPinnedAllocator  *self);
ARENA_AVAILABLE_IN_0_1
ArenaPinnedStats     *arena_pinned_allocator_dup_stats            (ArenaPinnedAllocator  *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
