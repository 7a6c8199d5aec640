/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

/* A range that only begins or ends in pinned memory, or lies in two registrations, is none that CUDA copies from. */

static void
run_staged (guint8 *data,
            gsize   size)
{
  g_autoptr(GPtrArray) buffers = NULL;
  GBytes *bytes = g_bytes_new_static (data, size);
  ArenaFakeEntry copy;

  arena_test_fill_pattern (data, size, 5);
  arena_fake_log_clear ();
  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  copy = cuda_test_get_call ("cudaMemcpyAsync", 0);
  g_assert_cmpuint (copy.ptr, !=, (guintptr) data);
  g_assert_true (arena_fake_is_pinned (GSIZE_TO_POINTER (copy.ptr), size));
  cuda_test_check_buffer (buffers, 0, size, 5);
  g_bytes_unref (bytes);
}

static void
test_two_segments (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  run_staged (scenario_get_segment (&ends, 0) + 1000, SCENARIO_PAGE);
  scenario_close (&ends);
}

static void
test_foreign_end (void)
{
  guint8 *data = g_aligned_alloc (3, 4096, 4096);

  g_assert_cmpint (cudaHostRegister (data, 4096, 1), ==, 0);
  run_staged (data + 2000, 4096);
  g_assert_cmpint (cudaHostUnregister (data), ==, 0);
  g_assert_cmpint (cudaHostRegister (data + 4096, 4096, 1), ==, 0);
  run_staged (data + 2000, 4096);
  g_assert_cmpint (cudaHostUnregister (data + 4096), ==, 0);
  g_aligned_free (data);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/47-partly-pinned-is-staged/two-segments", test_two_segments);
  cuda_test_add ("/arena/cuda/47-partly-pinned-is-staged/foreign", test_foreign_end);
  return g_test_run ();
}
