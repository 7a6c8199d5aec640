/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include <stdatomic.h>

/* Cancelled before it starts, a transfer calls nothing; cancelled later, it waits for what was started and then says so. */

static void
test_before (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(ArenaTransfer) transfer = NULL;
  g_autoptr(GError) error = NULL;
  gboolean freed;
  GBytes *bytes = cuda_test_watch_bytes (1000, 1, &freed);

  transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_bytes_unref (bytes);
  g_cancellable_cancel (cancellable);
  arena_fake_log_clear ();
  g_assert_null (arena_transfer_run (transfer, cancellable, &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
  g_clear_object (&transfer);
  g_assert_true (freed);
}

typedef struct
{
  ArenaTransfer *transfer;
  GCancellable  *cancellable;
  GError        *error;
  _Atomic int    ended;
} Run;

static gpointer
run_in_thread (gpointer data)
{
  Run *run = data;

  g_assert_null (arena_transfer_run (run->transfer, run->cancellable, &run->error));
  atomic_store (&run->ended, TRUE);
  return NULL;
}

static gboolean
has_waited (gpointer data)
{
  ArenaFakeLive live;

  arena_fake_live (&live);
  return live.pending == 1;
}

static void
test_after (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  Run run = { cuda_test_transfer_new (bytes, NULL, NULL), g_cancellable_new (), NULL, FALSE };
  GThread *thread;

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  thread = g_thread_new ("run", run_in_thread, &run);
  g_assert_true (arena_test_wait_until (has_waited, NULL, 5000));
  g_cancellable_cancel (run.cancellable);
  g_usleep (10000);
  g_assert_false (atomic_load (&run.ended));
  arena_fake_step (NULL, -1);
  g_thread_join (thread);
  arena_test_assert_error (run.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_object_unref (run.transfer);
  g_object_unref (run.cancellable);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/56-cancelled/before", test_before);
  cuda_test_add ("/arena/cuda/56-cancelled/after", test_after);
  return g_test_run ();
}
