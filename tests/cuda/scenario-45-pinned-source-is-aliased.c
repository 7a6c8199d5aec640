/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

/* F42: the device reads a view of a pinned pool where it is, whole or in part; nothing is staged. */

static void
run (gsize offset,
     gsize size)
{
  g_autoptr(GPtrArray) buffers = NULL;
  GBytes *view, *part;
  ArenaSent sent;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 3);
  view = arena_ends_take (&ends, &sent);
  part = g_bytes_new_from_bytes (view, offset, size);
  arena_fake_log_clear ();
  buffers = cuda_test_run (cuda_test_transfer_new (part, NULL, NULL));
  g_assert_cmpuint (cuda_test_get_call ("cudaMemcpyAsync", 0).ptr, ==, (guintptr) g_bytes_get_data (part, NULL));
  g_assert_cmpuint (cuda_test_get_call ("cudaMemcpyAsync", 0).len, ==, size);
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 0);
  /* Our own ranges are known without asking. */
  g_assert_cmpuint (arena_fake_count ("cudaPointerGetAttributes"), ==, 0);
  if (offset == 0)
    cuda_test_check_buffer (buffers, 0, size, 3);

  g_bytes_unref (part);
  g_bytes_unref (view);
  scenario_close (&ends);
}

static void
test_whole (void)
{
  run (0, SCENARIO_PAGE);
}

static void
test_interior (void)
{
  run (100, 2000);
  run (SCENARIO_PAGE - 1, 1);
}

/* F43: who waited for the copy may write to its source. */
static void
test_overwritten (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  ArenaSent sent;
  ArenaEnds ends;
  GBytes *view;

  scenario_open_pool (&ends, 1);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 3);
  view = arena_ends_take (&ends, &sent);
  arena_fake_set_mode (ARENA_FAKE_DELAY, 20);
  buffers = cuda_test_run (cuda_test_transfer_new (view, NULL, NULL));
  arena_test_fill_pattern (scenario_get_segment (&ends, 0), SCENARIO_PAGE, 4);
  cuda_test_check_buffer (buffers, 0, SCENARIO_PAGE, 3);
  g_bytes_unref (view);
  scenario_close (&ends);
}

/* Pinned by somebody else in this process. */
static void
test_foreign (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  GBytes *bytes;
  void *data;

  g_assert_cmpint (cudaHostAlloc (&data, 4096, 0), ==, 0);
  arena_test_fill_pattern (data, 4096, 4);
  bytes = g_bytes_new_static (data, 4096);
  arena_fake_log_clear ();
  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  g_assert_cmpuint (cuda_test_get_call ("cudaMemcpyAsync", 0).ptr, ==, (guintptr) data);
  cuda_test_check_buffer (buffers, 0, 4096, 4);
  g_bytes_unref (bytes);
  g_assert_cmpint (cudaFreeHost (data), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/45-pinned-source-is-aliased/whole-view", test_whole);
  cuda_test_add ("/arena/cuda/45-pinned-source-is-aliased/46-interior-view", test_interior);
  cuda_test_add ("/arena/cuda/45-pinned-source-is-aliased/overwritten", test_overwritten);
  cuda_test_add ("/arena/cuda/45-pinned-source-is-aliased/foreign", test_foreign);
  return g_test_run ();
}
