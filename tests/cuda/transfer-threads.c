/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

/* Eight threads allocate, transfer, wait, enqueue, download and drop, while copies take their time and some calls fail. */

enum { THREADS = 8, ROUNDS = 40 };

static gpointer
work (gpointer data)
{
  guint number = GPOINTER_TO_UINT (data);

  for (guint i = 0; i < ROUNDS; i++)
    {
      guint64 seed = number * ROUNDS + i;
      gsize size = 100 + (seed * 97) % 20000;
      g_autoptr(GBytes) bytes = cuda_test_make_bytes (size, seed);
      g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (bytes, bytes, NULL);
      g_autoptr(GPtrArray) buffers = NULL;
      g_autoptr(GBytes) back = NULL;

      buffers = i % 2 == 0 ? arena_transfer_run (transfer, NULL, NULL) : arena_transfer_enqueue (transfer, NULL);
      if (buffers != NULL)
        back = arena_device_buffer_download (buffers->pdata[1], NULL);
      if (back != NULL)
        g_assert_true (arena_test_check_pattern (g_bytes_get_data (back, NULL), size, seed));
    }

  return NULL;
}

static void
run (void)
{
  GThread *threads[THREADS];

  /* ThreadSanitizer doesn't see how GLib hands a class that one thread has made to the others. */
  g_type_class_unref (g_type_class_ref (ARENA_TYPE_TRANSFER));
  g_type_class_unref (g_type_class_ref (ARENA_TYPE_DEVICE_BUFFER));
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("transfer", work, GUINT_TO_POINTER (i));
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
}

static void
test_success (void)
{
  run ();
  /* Threads that end leave their streams to others. */
  g_assert_cmpuint (arena_fake_count ("cudaStreamCreateWithFlags"), <=, THREADS);
  run ();
  g_assert_cmpuint (arena_fake_count ("cudaStreamCreateWithFlags"), <=, THREADS);
  g_assert_cmpuint (arena_fake_count ("cudaStreamDestroy"), ==, 0);
  /* What was dropped last may still wait for the stream of its consumer. */
  g_assert_cmpint (cudaDeviceSynchronize (), ==, 0);
}

static void
test_failures (void)
{
  arena_fake_set_mode (ARENA_FAKE_DELAY, 1);
  for (int i = 1; i <= 8; i++)
    {
      arena_fake_inject ("cudaMemcpyAsync", 37 * i, 1, CUDA_INVALID_VALUE, FALSE);
      arena_fake_inject ("cudaStreamSynchronize", 23 * i, 1, CUDA_INVALID_VALUE, FALSE);
      arena_fake_inject ("cudaEventQuery", 41 * i, 1, CUDA_INVALID_VALUE, FALSE);
    }
  run ();
  g_assert_cmpint (cudaDeviceSynchronize (), ==, 0);
  cuda_test_sweep ();
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/transfer-threads/success", test_success);
  cuda_test_add ("/arena/cuda/transfer-threads/failures", test_failures);
  return g_test_run ();
}
