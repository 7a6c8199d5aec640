/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-payload.h"

#include "bench-harness.h"

#include <stdlib.h>

static inline guint64
word (guint64 position)
{
  return (position + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
}

guint64 *
bench_payload_new (gsize size)
{
  guint64 *payload = aligned_alloc (4096, (size + 4095) & ~(gsize) 4095);

  if (payload == NULL)
    bench_fail ("no memory for %" G_GSIZE_FORMAT " bytes", size);

  for (gsize i = 0; i < size / 8; i++)
    payload[i] = word (i);
  return payload;
}

static void
expect (const guint64 *words,
        gsize          at,
        guint64        expected,
        guint64        number)
{
  if (G_UNLIKELY (words[at] != expected))
    bench_fail ("word %" G_GSIZE_FORMAT " of unit %" G_GUINT64_FORMAT " is %" G_GINT64_MODIFIER "x instead of %"
                G_GINT64_MODIFIER "x", at, number, words[at], expected);
}

void
bench_payload_sample (gconstpointer data,
                      gsize         size,
                      guint64       number)
{
  const guint64 *words = data;
  gsize last = size / 8 - 1;

  expect (words, 0, number, number);
  expect (words, last, number, number);
  if (last > 1)
    expect (words, 1 + number * 7919 % (last - 1), word (1 + number * 7919 % (last - 1)), number);
}

void
bench_payload_check (gconstpointer data,
                     gsize         size,
                     guint64       number)
{
  const guint64 *words = data;
  gsize last = size / 8 - 1;

  expect (words, 0, number, number);
  expect (words, last, number, number);
  for (gsize i = 1; i < last; i++)
    expect (words, i, word (i), number);
}

/* Four sums, so that the additions don't wait for one another. */
guint64
bench_payload_sum (gconstpointer data,
                   gsize         size)
{
  const guint64 *words = data;
  guint64 sums[4] = { 0 };
  gsize n = size / 8;
  gsize i;

  for (i = 0; i + 4 <= n; i += 4)
    for (guint lane = 0; lane < 4; lane++)
      sums[lane] += words[i + lane];
  for (; i < n; i++)
    sums[0] += words[i];

  return sums[0] + sums[1] + sums[2] + sums[3];
}
