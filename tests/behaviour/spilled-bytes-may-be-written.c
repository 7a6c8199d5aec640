/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* A consumer may change what it has received in place, wherever it came: with what is outside of the arena as with what is
 * in it. In a read-only pool it may change neither. */

#define SIZE 4096

static GBytes *
receive (ArenaBackend *backend)
{
  ArenaConsumer *consumer = arena_test_consumer_new (backend, 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  g_autoptr(ArenaUnit) unit = NULL;
  GBytes *bytes;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, 3 * SIZE, 0, NULL));
  unit = arena_test_next (consumer);
  bytes = arena_test_dup_bytes (unit);
  arena_test_close (consumer, NULL);
  return bytes;
}

static void
test_writable (void)
{
  for (guint ring = 0; ring < 2; ring++)
    {
      g_autoptr(GBytes) bytes = receive (arena_test_spilling_new (ring != 0, SIZE));
      guint8 *data = (gpointer) g_bytes_get_data (bytes, NULL);

      memset (data, 7, SIZE);
      g_assert_cmpint (data[SIZE - 1], ==, 7);
    }
}

static int
write_in_child (gpointer data)
{
  signal (SIGSEGV, SIG_DFL);
  *(volatile char *) data = 1;
  return 0;
}

static void
test_read_only (void)
{
  ArenaBackend *pool = g_initable_new (ARENA_TYPE_POOL, NULL, NULL, "segment-size", (guint64) SIZE, "count", 2,
                                       "read-only", TRUE, "oversize", ARENA_OVERSIZE_SPILL, NULL);
  g_autoptr(GBytes) bytes = receive (pool);
  int status = arena_test_run_child (write_in_child, (gpointer) g_bytes_get_data (bytes, NULL));

  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGSEGV);
  g_assert_true (arena_test_check_bytes (bytes, 0));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spilled-bytes/writable", test_writable);
  arena_test_add ("/arena/spilled-bytes/read-only", test_read_only);
  return g_test_run ();
}
