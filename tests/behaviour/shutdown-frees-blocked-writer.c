/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"
#include "sync/arena-timing-private.h"

/* F35, F67, F106: shutdown (or close) from another thread ends a producer's wait, at once and for good. */

typedef gboolean (*Step) (ArenaBackend  *backend,
                          GError       **error);

typedef struct
{
  ArenaBackend *backend;
  Step          step;
} Later;

static gpointer
end_later (gpointer data)
{
  Later *later = data;

  g_usleep (50000);
  g_assert_true (later->step (later->backend, NULL));
  return NULL;
}

static void
check (ArenaEnds  *ends,
       Step        step,
       const char *text)
{
  Later later = { ends->backend, step };
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  ArenaSent sent;
  GThread *thread;

  arena_ends_fill (ends, 1000);
  thread = g_thread_new ("end", end_later, &later);
  g_assert_false (arena_ends_try_send (ends, 1000, 1, -1, &sent, &error));
  g_assert_cmpint (g_get_monotonic_time () - start, <, 2000000);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, text);
  g_thread_join (thread);

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (step (ends->backend, &error));
      g_assert_false (arena_ends_try_send (ends, 1, 1, -1, &sent, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
    }
  arena_ends_clear (ends);
}

static void
test (void)
{
  ArenaEnds ends = { 0 };

  /* The log line would end a sleep, and hide a wake that was lost. */
  arena_timing.stall_log = 5 * G_USEC_PER_SEC;
  arena_ends_open_pool (&ends, 1000, 2);
  check (&ends, arena_backend_shutdown, "Shut down while waiting for a free segment");
  arena_ends_open_ring (&ends, 1000);
  check (&ends, arena_backend_shutdown, "Shut down while waiting for room in the ring");
  arena_ends_open_pool (&ends, 1000, 2);
  check (&ends, arena_backend_close, "closed");
  arena_ends_open_ring (&ends, 1000);
  check (&ends, arena_backend_close, "closed");
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/shutdown-frees-blocked-writer", test);
  return g_test_run ();
}
