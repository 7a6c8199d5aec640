/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* F42: ordinary bytes go through pinned memory, which is used again; they are free as soon as the transfer is over. */

static void
test_staged (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  gboolean freed;
  GBytes *a = cuda_test_watch_bytes (5000, 1, &freed), *b = cuda_test_make_bytes (3, 2);

  buffers = cuda_test_run (cuda_test_transfer_new (a, b, NULL));
  g_assert_true (arena_fake_is_pinned (GSIZE_TO_POINTER (cuda_test_get_call ("cudaMemcpyAsync", 0).ptr), 5000));
  cuda_test_check_buffer (buffers, 0, 5000, 1);
  cuda_test_check_buffer (buffers, 1, 3, 2);
  g_bytes_unref (a);
  g_assert_true (freed);
  g_bytes_unref (b);
}

static void
test_used_again (void)
{
  for (guint i = 0; i < 10; i++)
    {
      GBytes *bytes = cuda_test_make_bytes (5000, i);

      g_ptr_array_unref (cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL)));
      g_bytes_unref (bytes);
    }

  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 1);
  g_assert_cmpuint (arena_fake_count ("cudaStreamCreateWithFlags"), <=, 1);
  g_assert_cmpuint (arena_fake_count ("cudaStreamDestroy"), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/48-pageable-is-staged/correct", test_staged);
  cuda_test_add ("/arena/cuda/48-pageable-is-staged/used-again", test_used_again);
  return g_test_run ();
}
