/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>

/* What newer compilers and GLib versions have, under the same names. */

/* GCC and clang say it differently. ThreadSanitizer sees neither a second mapping of the same memory nor non-temporal
 * stores, so the few places that use those have a plain way beside them. */
#if defined(__SANITIZE_THREAD__)
#define ARENA_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ARENA_THREAD_SANITIZER 1
#endif
#endif
#ifndef ARENA_THREAD_SANITIZER
#define ARENA_THREAD_SANITIZER 0
#endif

G_BEGIN_DECLS

static inline gboolean
arena_compat_clear_fd (int     *fd_ptr,
                       GError **error)
{
  int fd = g_steal_fd (fd_ptr);

  return fd < 0 || g_close (fd, error);
}

static inline void
arena_compat_autofd_cleanup (int *fd_ptr)
{
  int saved_errno = errno;

  arena_compat_clear_fd (fd_ptr, NULL);
  errno = saved_errno;
}

/* GLib 2.76. Always ours: with GLIB_VERSION_MAX_ALLOWED at 2.74 a newer GLib warns about its own. */
#undef g_autofd
#define g_autofd                   __attribute__ ((cleanup (arena_compat_autofd_cleanup)))
#define g_clear_fd(fd_ptr, error) arena_compat_clear_fd ((fd_ptr), (error))

/* Asks for a line in order to write to it. The built-in function would only ask to read it unless told that the CPU knows
 * the other instruction; every 64-bit one does, or ignores it. */
static inline void
arena_prefetch_for_write (const void *address)
{
#if defined(__x86_64__)
  __asm__ volatile ("prefetchw (%0)" : : "r" (address));
#else
  __builtin_prefetch (address, 1);
#endif
}

G_END_DECLS
