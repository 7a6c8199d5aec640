/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "memory/arena-copy-private.h"

#include <stdatomic.h>
#include <string.h>

#define SIZE_MAX_TESTED 8256
#define MARGIN          128
#define GUARD           0xa5

static void
check_copy (const guint8 *source,
            guint8       *area,
            gsize         alignment,
            gsize         size,
            ArenaCopyKind kind)
{
  guint8 *destination = area + MARGIN + alignment;
  gsize before = (gsize) (destination - area);
  gsize area_size = 2 * MARGIN + 64 + SIZE_MAX_TESTED;

  memset (area, GUARD, area_size);
  arena_copy (destination, source, size, kind);
  g_assert_cmpmem (destination, size, source, size);
  for (gsize i = 0; i < before; i++)
    g_assert_cmpuint (area[i], ==, GUARD);
  for (gsize i = before + size; i < MIN (before + size + MARGIN, area_size); i++)
    g_assert_cmpuint (area[i], ==, GUARD);
}

static void
check_all_alignments (ArenaCopyKind kind)
{
  g_autofree guint8 *source = g_malloc (SIZE_MAX_TESTED + 64);
  g_autofree guint8 *memory = g_malloc (2 * MARGIN + 128 + SIZE_MAX_TESTED);
  guint8 *area = memory + (64 - (guintptr) memory % 64);
  const struct { gsize from, to; } ranges[] = { { 0, 140 }, { 4032, 4240 }, { 8128, 8200 } };

  arena_test_fill_pattern (source, SIZE_MAX_TESTED + 64, 7);
  for (gsize alignment = 0; alignment <= 64; alignment++)
    for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
      for (gsize size = ranges[i].from; size <= ranges[i].to; size++)
        check_copy (source + (alignment * 7 + size) % 64, area, alignment, size, kind);
}

static void
test_plain (void)
{
  check_all_alignments (ARENA_COPY_PLAIN);
}

static void
test_stream (void)
{
  check_all_alignments (ARENA_COPY_STREAM);
}

static void
test_nothing (void)
{
  arena_copy (NULL, NULL, 0, ARENA_COPY_PLAIN);
  arena_copy (NULL, NULL, 0, ARENA_COPY_STREAM);
}

static void
test_large (void)
{
  const gsize size = (3 << 20) + 17;
  g_autofree guint8 *source = g_malloc (size);
  g_autofree guint8 *destination = g_malloc (size);

  arena_test_fill_pattern (source, size, 3);
  for (guint kind = ARENA_COPY_PLAIN; kind <= ARENA_COPY_STREAM; kind++)
    {
      memset (destination, 0, size);
      arena_copy (destination, source, size, (ArenaCopyKind) kind);
      g_assert_cmpmem (destination, size, source, size);
    }
}

/* Inside of every cache, and outside of all. */
static void
test_guess (void)
{
  g_assert_cmpint (arena_copy_guess_kind (0), ==, ARENA_COPY_PLAIN);
  g_assert_cmpint (arena_copy_guess_kind (1 << 16), ==, ARENA_COPY_PLAIN);
  g_assert_cmpint (arena_copy_guess_kind (G_GUINT64_CONSTANT (1) << 40), ==, ARENA_COPY_STREAM);
  g_assert_cmpint (arena_copy_guess_kind (G_MAXUINT64), ==, ARENA_COPY_STREAM);
}

#define N_ROUNDS   2000
#define ROUND_SIZE 16384

typedef struct
{
  _Atomic guint published;
  _Atomic guint consumed;
  guint8        bytes[ROUND_SIZE];
} Exchange;

static gpointer
produce (gpointer data)
{
  Exchange *exchange = data;
  g_autofree guint8 *source = g_malloc (ROUND_SIZE);

  for (guint round = 1; round <= N_ROUNDS; round++)
    {
      memset (source, (int) round, ROUND_SIZE);
      while (atomic_load_explicit (&exchange->consumed, memory_order_acquire) != round - 1)
        g_thread_yield ();
      arena_copy (exchange->bytes, source, ROUND_SIZE, ARENA_COPY_STREAM);
      atomic_store_explicit (&exchange->published, round, memory_order_release);
    }

  return NULL;
}

/* A release store publishes what was copied before it, non-temporal or not. */
static void
test_release_publishes (void)
{
  g_autofree Exchange *exchange = g_new0 (Exchange, 1);
  GThread *thread = g_thread_new ("producer", produce, exchange);

  for (guint round = 1; round <= N_ROUNDS; round++)
    {
      while (atomic_load_explicit (&exchange->published, memory_order_acquire) != round)
        g_thread_yield ();
      /* From the end: the last stores are the likeliest to be late. */
      for (gsize i = ROUND_SIZE; i-- > 0;)
        g_assert_cmpuint (exchange->bytes[i], ==, round & 0xff);
      atomic_store_explicit (&exchange->consumed, round, memory_order_release);
    }
  g_thread_join (thread);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/copy/plain-is-exact-at-every-alignment", test_plain);
  arena_test_add ("/arena/copy/stream-is-exact-at-every-alignment", test_stream);
  arena_test_add ("/arena/copy/nothing-is-fine", test_nothing);
  arena_test_add ("/arena/copy/large-by-either-kind", test_large);
  arena_test_add ("/arena/copy/guesses-by-footprint", test_guess);
  arena_test_add ("/arena/copy/release-store-publishes", test_release_publishes);
  return g_test_run ();
}
