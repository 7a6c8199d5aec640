/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* An event behind the copy or the stream itself proves that a copy has ended; an error proves nothing (F54). */

static gpointer
quarantine (GBytes *bytes)
{
  g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, NULL, NULL);

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  arena_fake_inject ("cudaStreamSynchronize", 1, 1, CUDA_INVALID_VALUE, FALSE);
  g_assert_null (arena_transfer_run (transfer, NULL, NULL));
  return GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).stream);
}

static void
assert_retry (gboolean expected)
{
  g_assert_cmpint (arena_cuda_context_retry_quarantine (cuda_test_get_context (), NULL), ==, expected);
}

/* No event can be recorded, so the stream is asked. */
static void
test_query_only (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  gpointer stream;

  arena_fake_inject ("cudaEventRecord", 1, -1, CUDA_INVALID_VALUE, FALSE);
  stream = quarantine (bytes);
  assert_retry (FALSE);
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  arena_fake_log_clear ();
  assert_retry (TRUE);
  g_assert_cmpuint (arena_fake_count ("cudaStreamQuery"), ==, 1);
  g_assert_cmpuint (arena_fake_count ("cudaEventQuery"), ==, 0);
}

static void
test_event (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  gpointer stream = quarantine (bytes);

  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  arena_fake_log_clear ();
  assert_retry (TRUE);
  g_assert_cmpuint (arena_fake_count ("cudaEventQuery"), ==, 1);
}

/* The copy ends, but whoever asks gets an error. */
static void
test_error_is_none (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  gpointer stream = quarantine (bytes);

  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  arena_fake_inject ("cudaEventQuery", 1, 3, CUDA_INVALID_VALUE, FALSE);
  for (guint i = 0; i < 3; i++)
    assert_retry (FALSE);
  assert_retry (TRUE);
}

/* Synchronising fails, asking works: that is a proof, though the transfer has failed. */
static void
test_asked_once_more (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (1000, 1);
  g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, NULL, NULL);
  g_autoptr(GError) error = NULL;

  arena_fake_set_mode (ARENA_FAKE_IMMEDIATE, 0);
  arena_fake_inject_async (NULL, CUDA_INVALID_VALUE);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "cudaStreamSynchronize");
  cuda_test_assert_kept (0, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/53-only-proofs-count/query-only", test_query_only);
  cuda_test_add ("/arena/cuda/53-only-proofs-count/event", test_event);
  cuda_test_add ("/arena/cuda/53-only-proofs-count/error-proves-nothing", test_error_is_none);
  cuda_test_add ("/arena/cuda/53-only-proofs-count/asked-once-more", test_asked_once_more);
  return g_test_run ();
}
