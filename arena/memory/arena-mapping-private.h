/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* One mmap, atomically reference-counted: unmapped by whoever drops the last reference, on any thread. */
typedef struct _ArenaMapping ArenaMapping;

typedef enum
{
  ARENA_MAPPING_READ_ONLY = 0,
  ARENA_MAPPING_WRITABLE  = 1 << 0,
  ARENA_MAPPING_TWICE     = 1 << 1, /* a second, adjacent view of the same pages: a span never wraps */
  ARENA_MAPPING_CONTROL   = 1 << 2, /* MADV_DONTFORK: absent in children, which must not unmap it either */
  ARENA_MAPPING_PRIVATE   = 1 << 3, /* copied where it is written to; all that a file sealed against writing allows */
} ArenaMappingFlags;

/* @size must be a multiple of the page size with TWICE. The descriptor may be closed afterwards.
 * Errors: NO_SPACE (address space, map count; names RLIMIT_AS when that is it), INVALID_ARGUMENT. */
ArenaMapping *arena_mapping_new      (int                 fd,
                                      gsize               size,
                                      ArenaMappingFlags   flags,
                                      GError            **error) G_GNUC_WARN_UNUSED_RESULT;
ArenaMapping *arena_mapping_ref      (ArenaMapping       *self);
void          arena_mapping_unref    (ArenaMapping       *self);
guint8       *arena_mapping_get_data (const ArenaMapping *self);
gsize         arena_mapping_get_size (const ArenaMapping *self); /* of one view */

/* Fills this process's page tables (MADV_POPULATE_WRITE or _READ, else by touching): later accesses don't fault. */
gboolean      arena_mapping_populate (ArenaMapping       *self,
                                      GError            **error);
/* Bytes of one view that are in memory now. The kernel counts a reserved page only from its first use on, by whatever
 * process, though it is taken from the machine all the time: what is taken is the size. 0 where it can't be told. */
guint64       arena_mapping_get_resident (const ArenaMapping *self);

/* Something that must happen before the memory is unmapped and may fail, such as unlocking it. From this call on, dropping
 * the last reference calls @retire instead of unmapping. Retired, the mapping is the callee's, who ends it by
 * arena_mapping_free(), or never. @retire runs on any thread, inside finalizers and in forked children with a copy of the
 * mapping, so all it should do is to note it. Once in a mapping's life, by one who holds a reference. */
void          arena_mapping_set_retire (ArenaMapping       *self,
                                        void              (*retire) (ArenaMapping *mapping),
                                        gpointer            data);
/* NULL as long as nobody has set it. */
gpointer      arena_mapping_get_retire_data (const ArenaMapping *self);
void          arena_mapping_free     (ArenaMapping       *self);
/* Whether the memory can be written to through it. */
gboolean      arena_mapping_is_writable (const ArenaMapping *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaMapping, arena_mapping_unref)

G_END_DECLS
