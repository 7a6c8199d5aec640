/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-copy-stream-private.h"

#include "base/arena-compat-private.h"

#include <string.h>

/* ThreadSanitizer doesn't see non-temporal stores and would miss every race on what they write. */
#if defined(__x86_64__) && !ARENA_THREAD_SANITIZER

#include <emmintrin.h>

/* Whole cache lines only: a line filled in part is read back from memory first, which is what these stores save. They
 * bypass the ordering of ordinary ones, hence the sfence: without it a later release store could become visible before
 * the bytes it publishes. */

#define LINE 64

static void
stream_lines (guint8       *destination,
              const guint8 *source,
              gsize         n_lines)
{
  for (gsize i = 0; i < n_lines; i++)
    {
      const __m128i *from = (const __m128i *) (const void *) (source + i * LINE);
      __m128i *to = (__m128i *) (void *) (destination + i * LINE);
      __m128i a = _mm_loadu_si128 (from);
      __m128i b = _mm_loadu_si128 (from + 1);
      __m128i c = _mm_loadu_si128 (from + 2);
      __m128i d = _mm_loadu_si128 (from + 3);

      _mm_stream_si128 (to, a);
      _mm_stream_si128 (to + 1, b);
      _mm_stream_si128 (to + 2, c);
      _mm_stream_si128 (to + 3, d);
    }
}

void
arena_copy_stream (void       *destination,
                   const void *source,
                   gsize       size)
{
  guint8 *to = destination;
  const guint8 *from = source;
  gsize head = MIN (size, -(guintptr) to % LINE);
  gsize body = (size - head) / LINE * LINE;

  memcpy (to, from, head);
  stream_lines (to + head, from + head, body / LINE);
  memcpy (to + head + body, from + head + body, size - head - body);
  _mm_sfence ();
}

#else

void
arena_copy_stream (void       *destination,
                   const void *source,
                   gsize       size)
{
  memcpy (destination, source, size);
}

#endif
