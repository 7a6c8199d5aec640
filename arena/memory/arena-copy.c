/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-copy-private.h"

#include "memory/arena-copy-stream-private.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* memcpy() chooses by the size of one call, but what matters is whether the destination will still be in the cache when
 * its turn comes again, and only the caller knows how much rotates. The threshold is computed once, without a lock (a
 * forked child must not inherit one that is held): threads that race compute the same. */

#define STREAM_SIZE_MIN 4096
#define CACHE_FALLBACK  (G_GUINT64_CONSTANT (32) << 20)
#define SHARERS_MAX     4

#define CACHE_FOLDER    "/sys/devices/system/cpu/cpu0/cache/index3/"

/* "32768K" or "32M"; 0 where unknown. */
static guint64
read_cache_size (void)
{
  g_autofree char *text = NULL;
  char *end;
  guint64 size;

  if (!g_file_get_contents (CACHE_FOLDER "size", &text, NULL, NULL))
    return 0;

  size = g_ascii_strtoull (text, &end, 10);
  return MIN (size, 1 << 20) << (*end == 'M' ? 20 : *end == 'K' ? 10 : 0);
}

/* How many CPUs share the cache, as the bits of a mask such as "0000,000000ff". At most 4 are counted: on a machine
 * with many, most are idle or live in their own second level. */
static guint
read_cache_sharers (void)
{
  g_autofree char *text = NULL;
  guint n = 0;

  if (!g_file_get_contents (CACHE_FOLDER "shared_cpu_map", &text, NULL, NULL))
    return 1;

  for (const char *at = text; *at != '\0'; at++)
    if (g_ascii_isxdigit (*at))
      n += (guint) __builtin_popcount ((guint) g_ascii_xdigit_value (*at));

  return CLAMP (n, 1, SHARERS_MAX);
}

/* The kernel's figure first: glibc's comes from cpuid, which in a virtual machine may describe the host (10 times what
 * the guest has, where this was measured). */
static guint64
compute_threshold (void)
{
  guint64 size = read_cache_size ();
  long reported;

  if (size == 0)
    {
      reported = sysconf (_SC_LEVEL3_CACHE_SIZE);
      size = reported > 0 ? (guint64) reported : CACHE_FALLBACK;
    }

  return size / read_cache_sharers () / 4 * 3;
}

static guint64
get_threshold (void)
{
  static _Atomic guint64 threshold;
  guint64 value = atomic_load_explicit (&threshold, memory_order_relaxed);

  if (G_UNLIKELY (value == 0))
    {
      value = MAX (compute_threshold (), 1);
      atomic_store_explicit (&threshold, value, memory_order_relaxed);
    }

  return value;
}

ArenaCopyKind
arena_copy_guess_kind (guint64 footprint)
{
  return footprint > get_threshold () ? ARENA_COPY_STREAM : ARENA_COPY_PLAIN;
}

void
arena_copy (void          *destination,
            const void    *source,
            gsize          size,
            ArenaCopyKind  kind)
{
  if (size >= STREAM_SIZE_MIN && kind == ARENA_COPY_STREAM)
    arena_copy_stream (destination, source, size);
  else if (size > 0)
    memcpy (destination, source, size);
}
