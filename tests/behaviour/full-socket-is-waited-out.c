/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* More units may be queued than the socket has room for descriptors: the producer waits there until its consumer reads,
 * nothing is lost, and neither waits for the other for ever. */

#define SIZE    1024
#define N_UNITS 1500

static void
test (void)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = SIZE + 1 };
  g_autoptr(ArenaBackend) backend = arena_test_spilling_new (FALSE, SIZE);
  ArenaConsumer *consumer = g_initable_new (ARENA_TYPE_CONSUMER, NULL, NULL, "backend", backend, "buffer-size", N_UNITS,
                                            "threshold", 64, NULL);
  GThread *thread = arena_test_start_producer (consumer, arena_test_send_series, &series);
  guint64 queued;

  arena_test_receive (consumer, 1, SIZE + 1);
  queued = arena_test_wait_for_pause (consumer);
  g_test_message ("%" G_GUINT64_FORMAT " queued", queued);
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
