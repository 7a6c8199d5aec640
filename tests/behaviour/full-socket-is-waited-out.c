/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* More units may be queued than the socket has room for descriptors: the producer waits there until its consumer reads,
 * nothing is lost, and neither waits for the other for ever. */

#define SIZE    1024
#define N_UNITS 1500

static gboolean
is_waiting (gpointer data)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (data);
  ArenaProducerPage *cp = priv->channel->cp;
  static guint64 seen;
  static guint quiet;
  guint64 head = cp != NULL ? atomic_load (&cp->qhead) : 0;

  quiet = head > 0 && head == seen ? quiet + 1 : 0;
  seen = head;
  return quiet > 100;
}

static void
test (void)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = SIZE + 1 };
  g_autoptr(ArenaBackend) backend = arena_test_spilling_new (FALSE, SIZE);
  ArenaConsumer *consumer = g_initable_new (ARENA_TYPE_CONSUMER, NULL, NULL, "backend", backend, "buffer-size", N_UNITS,
                                            "threshold", 64, NULL);
  GThread *thread = arena_test_start_producer (consumer, arena_test_send_series, &series);
  ArenaConsumerPrivate *priv = arena_consumer_get_private (consumer);
  guint64 queued;

  arena_test_receive (consumer, 1, SIZE + 1);
  g_assert_true (arena_test_wait_until (is_waiting, consumer, 20000));
  queued = atomic_load (&priv->channel->cp->qhead);
  g_assert_cmpuint (queued, >, 10);
  g_assert_cmpuint (queued, <, N_UNITS);
  arena_test_receive (consumer, N_UNITS - 1, SIZE + 1);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, thread);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/full-socket-is-waited-out", test);
  return g_test_run ();
}
