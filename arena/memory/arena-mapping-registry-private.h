/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/arena-compat-private.h"
#include "memory/arena-mapping-private.h"

G_BEGIN_DECLS

/* Under ThreadSanitizer only. It knows memory by address: two mappings of one file are unrelated to it, and a producer
 * and a consumer that run as threads of one process would never be found racing. So there the mappings of one file are
 * one object, always writable (a producer may come second). In every other build these are nothing. */
#if ARENA_THREAD_SANITIZER

/* Held from a look-up that may fail to the insertion, and around every drop of a reference: what is found is alive. */
void          arena_mapping_registry_lock   (void);
void          arena_mapping_registry_unlock (void);

/* A new reference, or NULL. */
ArenaMapping *arena_mapping_registry_lookup (int                fd,
                                             gsize              size,
                                             ArenaMappingFlags  flags);
void          arena_mapping_registry_insert (int                fd,
                                             ArenaMapping      *mapping,
                                             ArenaMappingFlags  flags);
void          arena_mapping_registry_remove (ArenaMapping      *mapping);

#else

static inline void
arena_mapping_registry_lock (void)
{
}

static inline void
arena_mapping_registry_unlock (void)
{
}

static inline ArenaMapping *
arena_mapping_registry_lookup (int               fd,
                               gsize             size,
                               ArenaMappingFlags flags)
{
  return NULL;
}

static inline void
arena_mapping_registry_insert (int               fd,
                               ArenaMapping     *mapping,
                               ArenaMappingFlags flags)
{
}

static inline void
arena_mapping_registry_remove (ArenaMapping *mapping)
{
}

#endif

G_END_DECLS
