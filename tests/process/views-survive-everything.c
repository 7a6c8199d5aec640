/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>

/* F29, F30, F36, C34, C35, C46: a byte that a consumer can see is never overwritten or unmapped. */

#define SIZE 20000

typedef struct
{
  GBytes *whole;
  GBytes *slice;
} Views;

/* Of unit 0; the unit itself is dropped. */
static Views
keep (ArenaConsumer *consumer)
{
  g_autoptr(ArenaUnit) unit = arena_test_next (consumer);
  Views views = { .whole = arena_test_dup_bytes (unit) };

  g_assert_cmpuint (arena_unit_get_sequence (unit), ==, 0);
  views.slice = g_bytes_new_from_bytes (views.whole, 100, 100);
  return views;
}

static void
check (const Views *views)
{
  const guint8 *data = g_bytes_get_data (views->whole, NULL);

  g_assert_true (arena_test_check_bytes (views->whole, 0));
  g_assert_cmpmem (g_bytes_get_data (views->slice, NULL), g_bytes_get_size (views->slice), data + 100, 100);
}

static void
drop (Views *views)
{
  /* The slice alone keeps everything. */
  check (views);
  g_clear_pointer (&views->whole, g_bytes_unref);
  g_assert_cmpuint (g_bytes_get_size (views->slice), ==, 100);
  g_clear_pointer (&views->slice, g_bytes_unref);
}

static void
run (ArenaBackend *backend)
{
  g_autoptr(ArenaBackend) kept = g_object_ref (backend);
  ArenaWorker *worker = arena_test_worker_new (backend, 2, "units=8", "size=20000", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);
  Views views = keep (consumer);

  arena_test_receive (consumer, 2, SIZE);
  for (guint epoch = 0; epoch < 3; epoch++)
    {
      g_assert_true (arena_consumer_start (consumer, NULL));
      arena_test_receive (consumer, 2, SIZE);
      check (&views);
    }

  g_assert_true (arena_backend_shutdown (kept, NULL));
  check (&views);
  g_assert_true (arena_consumer_close (consumer, -1, NULL, NULL));
  g_assert_false (arena_test_process_exists (arena_worker_get_pid (worker)));
  check (&views);
  g_assert_true (arena_backend_unlink (kept, NULL));
  check (&views);
  g_assert_finalize_object (worker);
  check (&views);
  g_clear_object (&kept);
  drop (&views);
}

static void
test_pool (void)
{
  /* In order, the pool comes round to the kept segment once all others were used. */
  run (arena_test_pool_new (SIZE, 32));
}

static void
test_ring (void)
{
  run (arena_test_ring_new (4 * SIZE));
}

/* Killed while it writes, with the consumer's object dropped unclosed. */
static void
test_killed_worker (void)
{
  ArenaWorker *worker = arena_test_worker_new (arena_test_pool_new (SIZE, 4), 2, "units=8", "size=20000", NULL);
  Views views = keep (ARENA_CONSUMER (worker));

  g_assert_no_errno (kill ((pid_t) arena_worker_get_pid (worker), SIGKILL));
  arena_test_assert_gone (ARENA_CONSUMER (worker), "signal 9");
  check (&views);
  g_assert_finalize_object (worker);
  drop (&views);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/views-survive/pool", test_pool);
  arena_test_add ("/arena/worker/views-survive/ring", test_ring);
  arena_test_add ("/arena/worker/views-survive/killed-worker", test_killed_worker);
  return g_test_run ();
}
