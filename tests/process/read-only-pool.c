/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* F156, protocol 1.4: what the consumer of a read-only pool has received can't be written to by anybody here. */

#define SIZE 20000

static ArenaWorker *
start (ArenaReuse reuse)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) SIZE, "count", 4,
                                       "read-only", TRUE, "reuse", reuse, NULL);

  g_assert_no_error (error);
  g_assert_true (arena_pool_get_read_only (ARENA_POOL (pool)));
  return arena_test_worker_new (pool, 2, "units=12", "size=20000", NULL);
}

/* How often the pool's memory is mapped, and that it never is writable. */
static guint
count_mappings (void)
{
  g_autofree char *maps = NULL;
  g_auto(GStrv) lines = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  lines = g_strsplit (maps, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (strstr (lines[i], "/memfd:arena-pool") != NULL)
      {
        g_assert_nonnull (strstr (lines[i], " r--s "));
        n++;
      }

  return n;
}

static int
write_in_child (gpointer data)
{
  signal (SIGSEGV, SIG_DFL);
  *(volatile char *) data = 1;
  return 0;
}

static void
assert_unwritable (GBytes *bytes)
{
  gpointer data = (gpointer) g_bytes_get_data (bytes, NULL);
  int status;

  g_assert_cmpint (mprotect (data, 4096, PROT_READ | PROT_WRITE), ==, -1);
  g_assert_cmpint (errno, ==, EACCES);
  status = arena_test_run_child (write_in_child, data);
  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGSEGV);
}

static void
run (ArenaReuse reuse)
{
  ArenaWorker *worker = start (reuse);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  g_autoptr(GBytes) kept = NULL;

  /* Not before the worker has sealed it. */
  g_assert_cmpuint (count_mappings (), ==, 0);
  {
    g_autoptr(ArenaUnit) unit = arena_test_next (consumer);

    arena_test_assert_unit (unit, SIZE);
    g_assert_true (arena_unit_get_read_only (unit));
    kept = arena_test_dup_bytes (unit);
  }
  g_assert_cmpuint (count_mappings (), ==, 1);
  assert_unwritable (kept);

  arena_test_receive (consumer, reuse == ARENA_REUSE_ANY ? 11 : 3, SIZE);
  arena_test_close (consumer, NULL);
  g_assert_true (arena_test_check_bytes (kept, 0));
  g_assert_cmpuint (count_mappings (), ==, 1);
  g_clear_pointer (&kept, g_bytes_unref);
  g_assert_cmpuint (count_mappings (), ==, 0);
}

static void
test_in_order (void)
{
  run (ARENA_REUSE_IN_ORDER);
}

static void
test_any (void)
{
  run (ARENA_REUSE_ANY);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/read-only/in-order", test_in_order);
  arena_test_add ("/arena/worker/read-only/any", test_any);
  return g_test_run ();
}
