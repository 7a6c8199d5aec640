/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where the kernel's own files are; tests point them at folders of their own. */
typedef struct
{
  const char *proc;   /* "/proc" */
  const char *cgroup; /* "/sys/fs/cgroup" */
} ArenaLimitsRoots;

/* Refuses @need bytes of shared memory that can't be had: RLIMIT_FSIZE (it would kill by SIGXFSZ) and RLIMIT_AS
 * first, then MemAvailable + SwapFree, then every visible memory cgroup ancestor (v2 and v1) as
 * limit - (usage - active_file - inactive_file), saturating. Unknown never refuses. NO_SPACE, naming the limit and
 * both numbers. @roots may be NULL. */
gboolean arena_limits_check               (guint64                  need,
                                           const ArenaLimitsRoots  *roots,
                                           GError                 **error);

/* Only RLIMIT_FSIZE, for a file of @size bytes: what is written beyond it ends the process. */
gboolean arena_limits_check_file_size     (guint64                  size,
                                           GError                 **error);

/* Only RLIMIT_AS, of which what is mapped already is used up: says why an mmap() of @need bytes failed. */
gboolean arena_limits_check_address_space (guint64                  need,
                                           const ArenaLimitsRoots  *roots,
                                           GError                 **error);

/* Whether @need more bytes can stay in memory for good beside @pinned that do already, all of them reserved: swap is of no
 * use to them, so the machine's own memory counts and each cgroup's limit, whatever is in use now. */
gboolean arena_limits_check_pinned        (guint64                  need,
                                           guint64                  pinned,
                                           const ArenaLimitsRoots  *roots,
                                           GError                 **error);

/* Only the cgroups; @pinned in place of what is in use where it isn't ARENA_LIMITS_NONE. */
gboolean arena_limits_check_cgroups       (guint64                  need,
                                           guint64                  pinned,
                                           const ArenaLimitsRoots  *roots,
                                           GError                 **error);

/* "Unknown" and "no limit" are one value: G_MAXUINT64. It is what a missing or unreadable file gives, text that is not
 * a number, "max", and everything from 2^62 on (v1 says "no limit" by a number a little below 2^63). */
#define ARENA_LIMITS_NONE G_MAXUINT64

guint64  arena_limits_parse               (const char              *text);

/* The number that stands behind @key and white space at the start of a line of @text. */
guint64  arena_limits_parse_key           (const char              *text,
                                           const char              *key);

/* FALSE with an error if @need is above @limit - @used (saturating). */
gboolean arena_limits_compare             (guint64                  need,
                                           const char              *name,
                                           guint64                  limit,
                                           guint64                  used,
                                           GError                 **error);

G_END_DECLS
