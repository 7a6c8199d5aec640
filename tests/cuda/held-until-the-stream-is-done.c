/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

/* F58: a copy that somebody else enqueued keeps the unit's place in the arena, if the context is told. */

static void
run (gboolean provable)
{
  CudaStream stream = cuda_test_stream_new ();
  g_autoptr(GError) error = NULL;
  ArenaSent sent;
  ArenaEnds ends;
  void *device;
  GBytes *view;

  scenario_open_pool (&ends, 1);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 1);
  view = arena_ends_take (&ends, &sent);
  g_assert_cmpint (cudaMalloc (&device, SCENARIO_PAGE), ==, 0);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (device, g_bytes_get_data (view, NULL), SCENARIO_PAGE, CUDA_HOST_TO_DEVICE, stream), ==,
                   0);
  if (!provable)
    arena_fake_inject ("cudaEventQuery", 1, 1, CUDA_INVALID_VALUE, FALSE);
  g_assert_true (arena_cuda_context_hold (cuda_test_get_context (), view, (guintptr) stream, &error));
  g_assert_no_error (error);
  g_bytes_unref (view);
  cuda_test_assert_kept (provable ? 1 : 0, provable ? 0 : 1);
  g_assert_false (arena_ends_try_send (&ends, SCENARIO_PAGE, 2, 0, &sent, NULL));

  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_assert_true (arena_cuda_context_retry_quarantine (cuda_test_get_context (), NULL));
  g_assert_true (arena_ends_try_send (&ends, SCENARIO_PAGE, 2, 0, &sent, NULL));
  arena_ends_pass (&ends, &sent);
  scenario_close (&ends);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
}

static void
test_proven (void)
{
  run (TRUE);
}

static void
test_quarantined (void)
{
  run (FALSE);
}

static void
test_done_already (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (100, 1);

  g_assert_true (arena_cuda_context_hold (cuda_test_get_context (), bytes, 1, NULL));
  cuda_test_assert_kept (0, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/held-until-the-stream-is-done/proven", test_proven);
  cuda_test_add ("/arena/cuda/held-until-the-stream-is-done/quarantined", test_quarantined);
  cuda_test_add ("/arena/cuda/held-until-the-stream-is-done/done-already", test_done_already);
  return g_test_run ();
}
