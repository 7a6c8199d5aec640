/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* Protocol 3.1: cursors are 64-bit numbers and nothing happens where smaller ones would wrap. Each crosses the place in
 * question, with and without waiting. */

#define UNITS 1000

static const guint64 starts[] = {
  (G_GUINT64_CONSTANT (1) << 32) - 3,
  (G_GUINT64_CONSTANT (1) << 53) - 3,
  (G_GUINT64_CONSTANT (1) << 63) - 1000000,
};

static gpointer
release_later (gpointer data)
{
  g_usleep (1000);
  g_bytes_unref (data);
  return NULL;
}

static void
test_pool (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_auto (ArenaEnds) ends = { 0 };
      ArenaSent sent;

      arena_ends_open_at (&ends, 1000, 3, starts[i], starts[i]);
      for (guint n = 0; n < UNITS; n++)
        {
          sent = arena_ends_send (&ends, 1 + n, n);
          g_assert_cmpuint (sent.span, ==, starts[i] + n);
          arena_ends_pass (&ends, &sent);
        }
      g_assert_cmpuint (atomic_load (&ends.storage->channel->cc->released), ==, starts[i] + UNITS);
    }
}

static void
test_pool_waits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_auto (ArenaEnds) ends = { 0 };
      ArenaSent sent;

      arena_ends_open_at (&ends, 1000, 1, starts[i], starts[i]);
      sent = arena_ends_send (&ends, 1000, 0);
      for (guint n = 1; n < 10; n++)
        {
          GThread *thread = g_thread_new ("release", release_later, arena_ends_take (&ends, &sent));

          sent = arena_ends_send (&ends, 1000, n);
          g_thread_join (thread);
        }
    }
}

static void
test_ring (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_auto (ArenaEnds) ends = { 0 };
      ArenaSent sent;

      /* 1000 units of up to 512 charged bytes stay below 2^63 */
      arena_ends_open_at (&ends, 1000, 0, starts[i], 0);
      for (guint n = 0; n < UNITS; n++)
        {
          sent = arena_ends_send (&ends, 1 + n % 500, n);
          g_assert_cmpuint (sent.offset % 64, ==, 0);
          arena_ends_pass (&ends, &sent);
        }
      g_assert_cmpuint (atomic_load (&ends.storage->channel->cc->released), ==, sent.span);
    }
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/cursors-start-anywhere", test_pool);
  arena_test_add ("/arena/pool/cursors-start-anywhere-and-wait", test_pool_waits);
  arena_test_add ("/arena/ring/cursors-start-anywhere", test_ring);
  return g_test_run ();
}
