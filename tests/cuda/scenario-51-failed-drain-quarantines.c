/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

#include "base/arena-error.h"
#include "cuda/arena-quarantine.h"

/* Where CUDA does not say that the copies have ended, sources, destinations, staging and stream are kept; a retry that
 * proves it gives all of them up (F54). */

static void
refuse_proof (void)
{
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_fake_inject ("cudaStreamSynchronize", 1, 1, CUDA_INVALID_VALUE, FALSE);
}

static void
prove (gpointer stream)
{
  g_autoptr(GError) error = NULL;

  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_assert_true (arena_cuda_context_retry_quarantine (cuda_test_get_context (), &error));
  g_assert_no_error (error);
  g_assert_cmpuint (arena_cuda_context_get_n_quarantined (cuda_test_get_context ()), ==, 0);
}

static void
test_all_kept (void)
{
  ArenaCudaContext *context = cuda_test_get_context ();
  g_autoptr(ArenaTransfer) transfer = NULL;
  g_autoptr(GError) error = NULL;
  gboolean freed;
  GBytes *bytes = cuda_test_watch_bytes (1000, 1, &freed);
  gpointer stream;

  transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_bytes_unref (bytes);
  refuse_proof ();
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_QUARANTINED, "cudaStreamSynchronize",
                           "cudaErrorInvalidValue (1)");
  g_assert_cmpuint (arena_cuda_context_get_n_quarantined (context), ==, 1);
  g_assert_cmpuint (arena_cuda_context_get_quarantined_bytes (context), ==, 1000);
  g_assert_cmpuint (cuda_test_get_figures (cuda_test_get_device ()->staging).used_bytes, ==, 4096);

  /* Not yet. */
  g_assert_false (arena_cuda_context_retry_quarantine (context, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_QUARANTINED, "1 uses of 1000 bytes");
  stream = GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream);
  prove (stream);
  g_assert_cmpuint (cuda_test_get_figures (cuda_test_get_device ()->staging).used_bytes, ==, 0);
}

/* Meanwhile the thread copies on another stream. */
static void
test_stream_kept (void)
{
  g_autoptr(ArenaTransfer) transfer = NULL;
  GBytes *bytes = cuda_test_make_bytes (1000, 1);
  gpointer stream;

  transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  refuse_proof ();
  g_assert_null (arena_transfer_run (transfer, NULL, NULL));
  stream = GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream);
  g_ptr_array_unref (cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL)));
  g_assert_cmpuint (cuda_test_get_call ("cudaMemcpyAsync", 1).stream, !=, (guintptr) stream);
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaDeviceSynchronize (), ==, 0);
  prove (stream);
  cuda_test_sweep ();
  g_bytes_unref (bytes);
}

/* The producer gets the segment when the copy is known to have ended, and not before. */
static void
test_segment_kept (void)
{
  g_autoptr(ArenaTransfer) transfer = NULL;
  g_autoptr(GError) error = NULL;
  ArenaSent sent, next;
  ArenaEnds ends;
  GBytes *bytes;

  scenario_open_pool (&ends, 1);
  sent = arena_ends_send (&ends, 1000, 1);
  bytes = arena_ends_take (&ends, &sent);
  transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_bytes_unref (bytes);
  refuse_proof ();
  g_assert_null (arena_transfer_run (transfer, NULL, NULL));
  g_assert_false (arena_ends_try_send (&ends, 1000, 2, 0, &next, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  prove (GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream));
  g_assert_true (arena_ends_try_send (&ends, 1000, 2, 0, &next, NULL));
  arena_ends_pass (&ends, &next);
  scenario_close (&ends);
}

/* The first error stays the first. */
static void
test_second_error (void)
{
  g_autoptr(ArenaTransfer) transfer = NULL;
  g_autoptr(GPtrArray) entries = NULL;
  g_autoptr(GError) error = NULL;
  GBytes *bytes = cuda_test_make_bytes (1000, 1);

  transfer = cuda_test_transfer_new (bytes, bytes, NULL);
  refuse_proof ();
  arena_fake_inject ("cudaMemcpyAsync", 2, 1, CUDA_NOT_SUPPORTED, FALSE);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED, "Field 1: cudaMemcpyAsync",
                           "and then cudaStreamSynchronize");
  entries = arena_cuda_context_list_quarantine (cuda_test_get_context ());
  g_assert_cmpuint (entries->len, ==, 1);
  g_assert_cmpuint (arena_quarantine_get_bytes (entries->pdata[0]), ==, 2000);
  prove (GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream));
  g_bytes_unref (bytes);
}

/* The context is lost: nothing will ever be proven. */
static void
test_lost (void)
{
  g_autoptr(ArenaTransfer) transfer = NULL;
  g_autoptr(GError) error = NULL;
  gboolean freed;
  GBytes *bytes = cuda_test_watch_bytes (1000, 1, &freed);

  transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_bytes_unref (bytes);
  arena_fake_inject ("cudaStreamSynchronize", 1, 1, CUDA_ILLEGAL_ADDRESS, TRUE);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_CONTEXT_LOST, "cudaErrorIllegalAddress (700)");
  g_assert_false (arena_cuda_context_retry_quarantine (cuda_test_get_context (), &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_CONTEXT_LOST, "700");
  arena_fake_reset (); /* which no device can */
  g_assert_true (arena_cuda_context_retry_quarantine (cuda_test_get_context (), &error));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/51-failed-drain-quarantines/52-all-kept-until-proven", test_all_kept);
  cuda_test_add ("/arena/cuda/51-failed-drain-quarantines/stream-kept", test_stream_kept);
  cuda_test_add ("/arena/cuda/51-failed-drain-quarantines/segment-kept", test_segment_kept);
  cuda_test_add ("/arena/cuda/51-failed-drain-quarantines/second-error", test_second_error);
  cuda_test_add ("/arena/cuda/51-failed-drain-quarantines/context-lost", test_lost);
  return g_test_run ();
}
