/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include "arena-boundary.h"
#include "cuda/arena-transfer.h"

/* What close does about what is pinned: nothing is unmapped before CUDA has let go of it, and what CUDA doesn't let go of
 * is reported and tried again (F55, F56). */

static gboolean
close_pool (ArenaEnds *ends,
            GError   **error)
{
  return arena_backend_close (ends->backend, error);
}

static void
assert_unregister_precedes_unmap (guint n)
{
  guint64 unmapped = scenario_get_call ("munmap", 0).seq;

  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (scenario_get_call ("cudaHostUnregister", i).seq, <, unmapped);
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, n);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 1);
}

static void
test_precedes (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 3);
  g_assert_true (close_pool (&ends, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (0, 0);
  arena_ends_clear (&ends);
  assert_unregister_precedes_unmap (3);
}

/* A view may be what somebody is copying from. */
static void
test_live_alias (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaStats) stats = NULL;
  ArenaSent sent;
  GBytes *view;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 7);
  view = arena_ends_take (&ends, &sent);
  g_assert_true (close_pool (&ends, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  stats = arena_pool_dup_stats (ARENA_POOL (ends.backend));
  g_assert_cmpuint (arena_stats_get_pinned_bytes (stats), ==, 2 * SCENARIO_PAGE);
  arena_ends_check (view, &sent);

  /* With the alias gone, closing again does it. */
  g_bytes_unref (view);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  g_assert_true (close_pool (&ends, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (0, 0);
  arena_ends_clear (&ends);
  assert_unregister_precedes_unmap (2);
}

/* Nobody closes again: the last view leaves it to whoever comes next. */
static void
test_alias_outlives_all (void)
{
  ArenaSent sent;
  GBytes *view;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 8);
  view = arena_ends_take (&ends, &sent);
  g_assert_true (close_pool (&ends, NULL));
  arena_ends_clear (&ends);
  arena_ends_check (view, &sent);
  arena_fake_log_clear ();
  g_bytes_unref (view);
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0); /* no call from what may be a finalizer */
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  g_assert_nonnull (arena_cuda_context_get_default (NULL));
  scenario_assert_pinned (0, 0);
  assert_unregister_precedes_unmap (2);
}

/* A copy that hasn't finished keeps the view, and the view keeps the rest. */
static void
test_copy_in_flight (void)
{
  CudaStream stream;
  ArenaSent sent;
  GBytes *view;
  void *device;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 9);
  view = arena_ends_take (&ends, &sent);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaStreamCreateWithFlags (&stream, CUDA_STREAM_NON_BLOCKING), ==, 0);
  g_assert_cmpint (cudaMalloc (&device, SCENARIO_PAGE), ==, 0);
  g_assert_cmpint (cudaMemcpyAsync (device, g_bytes_get_data (view, NULL), SCENARIO_PAGE, CUDA_HOST_TO_DEVICE, stream),
                   ==, 0);
  g_assert_true (close_pool (&ends, NULL));
  arena_ends_clear (&ends);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 0);

  arena_fake_step (stream, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_bytes_unref (view);
  g_assert_nonnull (arena_cuda_context_get_default (NULL));
  scenario_assert_pinned (0, 0);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

/* A transfer that goes on without its caller holds what it reads. */
static void
test_transfer_in_flight (void)
{
  ArenaCudaContext *context = arena_cuda_context_get_default (NULL);
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (context);
  g_autoptr(GPtrArray) buffers = NULL;
  ArenaSent sent;
  GBytes *view;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 9);
  view = arena_ends_take (&ends, &sent);
  g_assert_cmpint (arena_transfer_add (transfer, view, NULL), ==, 0);
  g_bytes_unref (view);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  buffers = arena_transfer_enqueue (transfer, NULL);
  g_assert_nonnull (buffers);
  g_assert_true (close_pool (&ends, NULL));
  g_assert_true (close_pool (&ends, NULL));
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);

  arena_fake_step (NULL, -1);
  g_assert_true (arena_device_buffer_synchronize (buffers->pdata[0], NULL));
  g_assert_true (arena_cuda_context_retry_quarantine (context, NULL));
  g_assert_true (close_pool (&ends, NULL));
  scenario_assert_pinned (0, 0);
  arena_ends_clear (&ends);
  assert_unregister_precedes_unmap (2);
}

static void
fail_to_close (guint n_times)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  arena_fake_inject ("cudaHostUnregister", 1, (int) (2 * n_times), CUDA_INVALID_VALUE, false);
  for (guint i = 0; i < n_times; i++)
    {
      g_autofree char *what = g_strdup_printf ("cudaHostUnregister: segment 1 of 2, 4096 bytes at %p",
                                               (gpointer) scenario_get_segment (&ends, 1));

      g_assert_false (close_pool (&ends, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, what, "cudaErrorInvalidValue (1)",
                               "device 0", "close again", "(and 1 more)");
      scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
      g_assert_cmpuint (scenario_count_unmapped (), ==, 0);
    }
  g_assert_true (close_pool (&ends, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (0, 0);
  arena_ends_clear (&ends);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 1);
}

static void
test_fails_once (void)
{
  fail_to_close (1);
}

static void
test_fails_often (void)
{
  fail_to_close (5);
}

/* One of them only: the others are let go of at once. */
static void
test_fails_for_one (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 4);
  arena_fake_inject ("cudaHostUnregister", 2, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (close_pool (&ends, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, "segment 2 of 4");
  scenario_assert_pinned (1, SCENARIO_PAGE);
  arena_ends_clear (&ends);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 0);
  g_assert_nonnull (arena_cuda_context_get_default (NULL));
  g_assert_cmpuint (scenario_count_unmapped (), ==, 1);
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 5);
}

static void
test_context_lost (void)
{
  g_autoptr(GError) error = NULL;
  ArenaCudaContext *context = arena_cuda_context_get_default (NULL);
  guint8 *data;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  data = scenario_get_segment (&ends, 0);
  arena_fake_inject ("cudaHostUnregister", 1, 1, CUDA_ILLEGAL_ADDRESS, true);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_false (close_pool (&ends, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_CONTEXT_LOST, "device 0", "end the process");
      g_assert_false (arena_cuda_context_retry_quarantine (context, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_CONTEXT_LOST, "2 segments of 4096 bytes");
    }
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 1);
  arena_ends_clear (&ends);
  g_assert_cmpuint (arena_cuda_context_get_quarantined_bytes (context), ==, 2 * SCENARIO_PAGE);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 0);
  *(volatile guint8 *) data = 1; /* still there */
}

static void
test_gone (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  g_assert_cmpint (cudaHostUnregister (scenario_get_segment (&ends, 0)), ==, 0);
  g_assert_false (close_pool (&ends, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, "cudaHostUnregister: segment 0 of 2",
                           "cudaErrorHostMemoryNotRegistered (713)", "something else in this process");
  scenario_assert_pinned (0, 0);
  g_assert_true (close_pool (&ends, &error));
  g_assert_no_error (error);
  arena_ends_clear (&ends);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 1);
}

/* CUDA says both that it isn't registered and that it is: nothing is known. */
static void
test_not_gone (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 1);
  arena_fake_inject ("cudaHostUnregister", 1, 2, CUDA_NOT_REGISTERED, false);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (close_pool (&ends, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, "(713)", "stays pinned");
      scenario_assert_pinned (1, SCENARIO_PAGE);
    }
  g_assert_true (close_pool (&ends, &error));
  g_assert_no_error (error);
  arena_ends_clear (&ends);
}

static void
test_unloading (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  arena_fake_inject ("cudaHostUnregister", 1, -1, CUDA_UNLOADING, false);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_false (close_pool (&ends, &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNLOADING, "device 0", "the process is exiting");
    }
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 1);
  arena_ends_clear (&ends);
  g_assert_nonnull (arena_cuda_context_get_default (NULL));
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 1);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 0);
}

static void
test_twice (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  g_assert_true (close_pool (&ends, NULL));
  arena_fake_log_clear ();
  g_assert_true (close_pool (&ends, NULL));
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
  arena_ends_clear (&ends);
}

static void
test_finalize (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  arena_fake_log_clear ();
  arena_ends_clear (&ends);
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);

  /* Another pinned pool is a next use, too. */
  scenario_open_pool (&ends, 1);
  scenario_assert_pinned (1, SCENARIO_PAGE);
  assert_unregister_precedes_unmap (2);
  scenario_close (&ends);
}

static void
test_transfer_cleans_up (void)
{
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (arena_cuda_context_get_default (NULL));
  g_autoptr(GPtrArray) buffers = NULL;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  arena_ends_clear (&ends);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  buffers = arena_transfer_run (transfer, NULL, NULL);
  g_assert_nonnull (buffers);
  scenario_assert_pinned (0, 0);
}

static void
test_finalized_consumer (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (scenario_pool_new (2, NULL, 0), 1);

  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  arena_fake_log_clear ();
  g_object_unref (consumer);
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
  g_assert_nonnull (arena_cuda_context_get_default (NULL));
  scenario_assert_pinned (0, 0);
}

static void
test_unlinked (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;
  ArenaSent sent;

  scenario_open_pool (&ends, 2);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 3);
  g_assert_true (arena_backend_unlink (ends.backend, &error));
  g_assert_true (arena_backend_shutdown (ends.backend, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  arena_ends_pass (&ends, &sent);
  scenario_close (&ends);
  assert_unregister_precedes_unmap (2);
}

/* The boundary's close says what the arena's says, and repeats it. */
static void
test_consumer_close (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (scenario_pool_new (2, NULL, 0), 1);
  g_autoptr(GError) error = NULL;

  arena_fake_inject ("cudaHostUnregister", 2, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (arena_consumer_close (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, "segment 0 of 2");
  scenario_assert_pinned (1, SCENARIO_PAGE);
  g_assert_true (arena_consumer_close (consumer, -1, NULL, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (0, 0);
  g_object_unref (consumer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/scenario-24-unregister-precedes-unmap", test_precedes);
  scenario_add ("/arena/cuda/scenario-25-live-alias", test_live_alias);
  scenario_add ("/arena/cuda/scenario-25-alias-outlives-all", test_alias_outlives_all);
  scenario_add ("/arena/cuda/scenario-26-copy-in-flight", test_copy_in_flight);
  scenario_add ("/arena/cuda/scenario-26-transfer-in-flight", test_transfer_in_flight);
  scenario_add ("/arena/cuda/scenario-27-unregister-fails-once", test_fails_once);
  scenario_add ("/arena/cuda/scenario-27-unregister-fails-for-one", test_fails_for_one);
  scenario_add ("/arena/cuda/scenario-27-a-boundary-says-so", test_consumer_close);
  scenario_add ("/arena/cuda/scenario-28-unregister-fails-often", test_fails_often);
  scenario_add_lasting ("/arena/cuda/scenario-29-context-lost", test_context_lost);
  scenario_add ("/arena/cuda/scenario-30-gone", test_gone);
  scenario_add ("/arena/cuda/scenario-30-not-gone", test_not_gone);
  scenario_add_lasting ("/arena/cuda/scenario-31-unloading-abandons", test_unloading);
  scenario_add ("/arena/cuda/scenario-32-close-twice", test_twice);
  scenario_add ("/arena/cuda/scenario-33-finalize-without-close", test_finalize);
  scenario_add ("/arena/cuda/scenario-33-a-transfer-cleans-up", test_transfer_cleans_up);
  scenario_add ("/arena/cuda/scenario-33-consumer-without-close", test_finalized_consumer);
  scenario_add ("/arena/cuda/scenario-34-unlinked-and-shut-down", test_unlinked);
  return g_test_run ();
}
