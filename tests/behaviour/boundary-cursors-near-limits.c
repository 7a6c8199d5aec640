/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 3.1 through a whole boundary: the queue's cursors, the arena's and a pool's sequences cross the places where
 * smaller numbers would wrap, with both sides waiting for each other and an iteration ended early. */

#define N_UNITS     20
#define SIZE        10000
#define SMALL_SIZE  100
#define SEGMENTS    2
#define BUFFER_SIZE 2

static const guint64 starts[] = {
  (G_GUINT64_CONSTANT (1) << 32) - 3,
  (G_GUINT64_CONSTANT (1) << 53) - 3,
  (G_GUINT64_CONSTANT (1) << 63) - 1000000, /* below what a ring is charged here */
};

/* As if the arena had been used for that long; nobody has opened it yet. */
static void
begin_at (ArenaBackend *backend,
          guint64       start)
{
  ArenaChannel *channel = arena_backend_peek_storage (backend)->channel;
  guint64 n = channel->geometry.n_segments;

  channel->geometry.first_cursor = start;
  atomic_store (&channel->cc->qtail, start);
  atomic_store (&channel->cc->released, start);
  if (n == 0)
    return;

  channel->geometry.first_sequence = start;
  for (guint64 s = start - n; s < start; s++)
    atomic_store (&channel->cc->freed[s % n], s);
}

/* Every second unit is received late, so that the producer waits as well. */
static void
receive (ArenaConsumer *consumer,
         guint          n,
         gsize          size)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (ArenaUnit) unit = arena_test_next (consumer);

      arena_test_assert_unit (unit, size);
      if (i % 2 == 0)
        g_usleep (300);
    }
}

static void
cross (ArenaBackend *backend,
       guint64       start,
       gsize         size)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = size };
  ArenaConsumer *consumer;
  ArenaChannel *channel;
  GThread *producer;
  guint64 taken;

  begin_at (backend, start);
  consumer = arena_test_consumer_new (backend, BUFFER_SIZE);
  channel = arena_consumer_get_private (consumer)->channel;
  producer = arena_test_start_producer (consumer, arena_test_send_series, &series);

  receive (consumer, N_UNITS, size);
  arena_test_assert_end (consumer);
  g_assert_cmpuint (atomic_load (&channel->cc->qtail), ==, start + N_UNITS + 1);

  /* Ended early, then once more in full. */
  g_assert_true (arena_consumer_start (consumer, NULL));
  receive (consumer, N_UNITS / 2, size);
  g_assert_true (arena_consumer_start (consumer, NULL));
  receive (consumer, N_UNITS, size);
  arena_test_assert_end (consumer);

  taken = atomic_load (&channel->cc->qtail);
  g_assert_cmpuint (taken, ==, atomic_load (&channel->cp->qhead));
  g_assert_cmpuint (taken, >=, start + 2 * N_UNITS + N_UNITS / 2 + 3);
  arena_test_close (consumer, producer);
}

static void
test_pool (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    cross (arena_test_pool_new (SIZE, SEGMENTS), starts[i], SIZE);
}

static void
test_ring (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    cross (arena_test_ring_new (SEGMENTS * SIZE), starts[i], SIZE);
}

static void
test_envelopes_only (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    cross (arena_test_pool_new (SIZE, SEGMENTS), starts[i], SMALL_SIZE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary-cursors-near-limits/pool", test_pool);
  arena_test_add ("/arena/boundary-cursors-near-limits/ring", test_ring);
  arena_test_add ("/arena/boundary-cursors-near-limits/envelopes-only", test_envelopes_only);
  return g_test_run ();
}
