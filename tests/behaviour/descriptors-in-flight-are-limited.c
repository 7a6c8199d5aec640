/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <sys/resource.h>
#include <unistd.h>

/* The kernel lets a user have as many descriptors on their way as RLIMIT_NOFILE says. A producer waits there as for
 * everything else: a try says so with numbers, and whoever waits loses nothing, though nobody wakes it. */

#define SIZE    4096
#define LIMIT   64
#define N_UNITS (5 * LIMIT)
#define NOBODY  65534

static void
try_out (ArenaConsumer *consumer)
{
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  for (guint round = 0; round < 2; round++)
    {
      guint n = 0;

      while (arena_test_send (producer, SIZE + 1, 0, &error))
        n++;
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK, "4097 bytes", "RLIMIT_NOFILE allows, 64");
      g_assert_cmpuint (n, >, 0);
      g_assert_cmpuint (n, <=, LIMIT + 1);
      g_assert_true (arena_test_send (producer, SIZE, 0, &error));
      g_assert_no_error (error);
      arena_test_receive (consumer, n, SIZE + 1);
      arena_test_receive (consumer, 1, SIZE);
    }
  arena_test_close (consumer, NULL);
}

static void
wait_out (ArenaConsumer *consumer)
{
  ArenaTestSeries series = { .n_units = N_UNITS, .size = SIZE + 1 };
  GThread *thread = arena_test_start_producer (consumer, arena_test_send_series, &series);

  arena_test_receive (consumer, 1, SIZE + 1);
  g_assert_cmpuint (arena_test_wait_for_pause (consumer), <=, LIMIT + 2);
  arena_test_receive (consumer, N_UNITS - 1, SIZE + 1);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, thread);
}

static int
run (gpointer data G_GNUC_UNUSED)
{
  const struct rlimit limits = { LIMIT, LIMIT };

  /* Who administers the machine has no such limit. */
  if (getuid () == 0)
    g_assert_no_errno (setresuid (NOBODY, NOBODY, NOBODY));
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limits));
  try_out (arena_test_consumer_new (arena_test_spilling_new (FALSE, SIZE), 200));
  wait_out (arena_test_consumer_new (arena_test_spilling_new (FALSE, SIZE), 200));
  return 0;
}

static void
test (void)
{
  if (arena_test_on_valgrind ())
    g_test_skip ("valgrind emulates RLIMIT_NOFILE, but not for sockets");
  else
    arena_test_assert_child (run, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/descriptors-in-flight-are-limited", test);
  return g_test_run ();
}
