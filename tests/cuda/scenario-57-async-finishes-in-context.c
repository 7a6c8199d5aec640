/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "base/arena-error.h"

/* F135: an asynchronous transfer ends in the main context of its caller, which it never blocks. */

typedef struct
{
  GMainContext *context;
  GPtrArray    *buffers;
  GError       *error;
  gboolean      done;
} Outcome;

static void
finish (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  Outcome *outcome = data;

  g_assert_true (g_main_context_is_owner (outcome->context));
  outcome->buffers = arena_transfer_run_finish (ARENA_TRANSFER (source), result, &outcome->error);
  outcome->done = TRUE;
}

/* While the copy waits at the gate, the context turns. */
static void
run (ArenaTransfer *transfer,
     GCancellable  *cancellable,
     Outcome       *outcome)
{
  *outcome = (Outcome) { .context = g_main_context_new () };
  g_main_context_push_thread_default (outcome->context);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_transfer_run_async (transfer, cancellable, finish, outcome);
  for (guint i = 0; i < 20 && !outcome->done; i++)
    {
      g_main_context_iteration (outcome->context, FALSE);
      g_usleep (1000);
    }
  arena_fake_step (NULL, -1);
  while (!outcome->done)
    g_main_context_iteration (outcome->context, TRUE);
  g_main_context_pop_thread_default (outcome->context);
  g_main_context_unref (outcome->context);
  g_object_unref (transfer);
}

static void
test_success (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  Outcome outcome;

  run (cuda_test_transfer_new (bytes, NULL, NULL), NULL, &outcome);
  g_assert_no_error (outcome.error);
  cuda_test_check_buffer (outcome.buffers, 0, 1000, 1);
  g_ptr_array_unref (outcome.buffers);
}

static void
test_failure (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  Outcome outcome;

  arena_fake_inject ("cudaMemcpyAsync", 1, 1, CUDA_INVALID_VALUE, FALSE);
  run (cuda_test_transfer_new (bytes, NULL, NULL), NULL, &outcome);
  arena_test_assert_error (outcome.error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "Field 0: cudaMemcpyAsync");
}

static void
test_cancelled (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  Outcome outcome;

  g_cancellable_cancel (cancellable);
  run (cuda_test_transfer_new (bytes, NULL, NULL), cancellable, &outcome);
  arena_test_assert_error (outcome.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_twice (void)
{
  ArenaTransfer *transfer = cuda_test_transfer_new (NULL, NULL, NULL);
  Outcome outcome;

  g_ptr_array_unref (arena_transfer_run (transfer, NULL, NULL));
  run (transfer, NULL, &outcome);
  arena_test_assert_error (outcome.error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  cuda_test_add ("/arena/cuda/57-async-finishes-in-context/success", test_success);
  cuda_test_add ("/arena/cuda/57-async-finishes-in-context/failure", test_failure);
  cuda_test_add ("/arena/cuda/57-async-finishes-in-context/cancelled", test_cancelled);
  cuda_test_add ("/arena/cuda/57-async-finishes-in-context/twice", test_twice);
  return g_test_run ();
}
