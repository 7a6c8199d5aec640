/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Creates an anonymous memory file of exactly @size bytes (> 0), close-on-exec, every page reserved (so that no
 * later touch can raise SIGBUS) and its size sealed against change. Limits are checked first (arena-limits).
 * @cancellable is looked at between the 16 MiB steps of the reservation.
 * Errors: NO_SPACE (names the limit and both numbers), G_IO_ERROR_CANCELLED, INVALID_ARGUMENT. Returns the fd or -1. */
int      arena_memfd_new   (const char    *name,
                            guint64        size,
                            GCancellable  *cancellable,
                            GError       **error);

/* The same without a byte: nothing is reserved, its size can still change. */
int      arena_memfd_new_empty (const char   *name,
                                GError      **error);

/* Reserves the pages of bytes @start to @end, which may lie behind the file's end, in steps as arena_memfd_new(). */
gboolean arena_memfd_reserve   (int           fd,
                                const char   *name,
                                guint64       start,
                                guint64       end,
                                GCancellable *cancellable,
                                GError      **error);

/* "arena-LABEL" as a name, free of what a process's maps give a meaning of their own: anything but letters, digits, "-",
 * "_" and "." becomes "_", and what is longer than 64 bytes is cut. "arena-FALLBACK" without a label. */
char    *arena_memfd_name  (const char    *label,
                            const char    *fallback) G_GNUC_WARN_UNUSED_RESULT;

/* Adds F_SEAL_* bits. A seal that can't be set is an error, never a warning. */
gboolean arena_memfd_seal  (int            fd,
                            guint          seals,
                            GError       **error);

/* What a receiver checks before mapping a peer's file: a memory file of exactly @size bytes on which at least
 * @seals are set (by mask: newer kernels add seals of their own). Else PROTOCOL, naming @what. */
gboolean arena_memfd_check (int            fd,
                            guint64        size,
                            guint          seals,
                            const char    *what,
                            GError       **error);

G_END_DECLS
