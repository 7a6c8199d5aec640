/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "fake-cudart.h"

#include <string.h>
#include <unistd.h>

/* The double's errors: those of a machine without a device, those that were asked for, and the last error. */

static int
allocate (void)
{
  void *pointer;
  int result = cudaMalloc (&pointer, 100);

  if (result == 0)
    g_assert_cmpint (cudaFree (pointer), ==, 0);
  return result;
}

static void
test_no_driver (void)
{
  int n = -1;

  arena_fake_reset ();
  arena_fake_set_driver (0);
  g_assert_cmpint (cudaDriverGetVersion (&n), ==, 0);
  g_assert_cmpint (n, ==, 0);
  g_assert_cmpint (cudaRuntimeGetVersion (&n), ==, 0);
  g_assert_cmpint (n, ==, 13000);
  g_assert_cmpint (allocate (), ==, CUDA_INSUFFICIENT_DRIVER);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_INSUFFICIENT_DRIVER);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_INSUFFICIENT_DRIVER);
  g_assert_cmpstr (cudaGetErrorName (CUDA_INSUFFICIENT_DRIVER), ==, "cudaErrorInsufficientDriver");
  arena_fake_set_driver (12080);
  g_assert_cmpint (allocate (), ==, CUDA_INSUFFICIENT_DRIVER);
  arena_fake_set_driver (13000);
  arena_fake_set_stub (TRUE);
  g_assert_cmpint (allocate (), ==, CUDA_STUB_LIBRARY);
  arena_fake_set_stub (FALSE);
  arena_fake_set_devices (0);
  g_assert_cmpint (cudaGetDeviceCount (&n), ==, CUDA_NO_DEVICE);
  arena_fake_set_devices (2);
  g_assert_cmpint (cudaGetDeviceCount (&n), ==, 0);
  g_assert_cmpint (n, ==, 2);
  g_assert_cmpint (cudaSetDevice (2), ==, CUDA_INVALID_DEVICE);
}

static void
test_injection (void)
{
  arena_fake_reset ();
  arena_fake_inject ("cudaMalloc", 2, 2, CUDA_MEMORY_ALLOCATION, FALSE);
  g_assert_cmpint (allocate (), ==, 0);
  g_assert_cmpint (allocate (), ==, CUDA_MEMORY_ALLOCATION);
  g_assert_cmpint (arena_fake_last_error_of (gettid ()), ==, CUDA_MEMORY_ALLOCATION);
  g_assert_cmpint (allocate (), ==, CUDA_MEMORY_ALLOCATION);
  g_assert_cmpint (cudaPeekAtLastError (), ==, CUDA_MEMORY_ALLOCATION);
  g_assert_cmpint (allocate (), ==, 0);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_MEMORY_ALLOCATION);
  g_assert_cmpint (cudaGetLastError (), ==, 0);

  arena_fake_inject ("*", 1, -1, CUDA_INVALID_VALUE, FALSE);
  g_assert_cmpint (allocate (), ==, CUDA_INVALID_VALUE);
  g_assert_cmpint (cudaDeviceSynchronize (), ==, CUDA_INVALID_VALUE);
}

static void
test_sticky (void)
{
  arena_fake_reset ();
  arena_fake_inject ("cudaDeviceSynchronize", 1, 1, CUDA_ILLEGAL_ADDRESS, TRUE);
  g_assert_cmpint (allocate (), ==, 0);
  g_assert_cmpint (cudaDeviceSynchronize (), ==, CUDA_ILLEGAL_ADDRESS);
  g_assert_cmpint (allocate (), ==, CUDA_ILLEGAL_ADDRESS);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_ILLEGAL_ADDRESS);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_ILLEGAL_ADDRESS);
}

static void
test_foreign (void)
{
  arena_fake_reset ();
  arena_fake_inject_async (NULL, CUDA_ILLEGAL_ADDRESS);
  g_assert_cmpint (allocate (), ==, 0);
  g_assert_cmpint (cudaStreamSynchronize (NULL), ==, CUDA_ILLEGAL_ADDRESS);
  g_assert_cmpint (cudaStreamSynchronize (NULL), ==, 0);
}

static void
test_capture (void)
{
  int mode = CUDA_CAPTURE_RELAXED;

  arena_fake_reset ();
  arena_fake_set_capture (TRUE);
  g_assert_cmpint (cudaThreadExchangeStreamCaptureMode (&mode), ==, 0);
  g_assert_cmpint (mode, ==, CUDA_CAPTURE_GLOBAL);
  g_assert_cmpint (allocate (), ==, 0);
  g_assert_false (arena_fake_capture_broken ());
  g_assert_cmpint (cudaThreadExchangeStreamCaptureMode (&mode), ==, 0);
  g_assert_cmpint (allocate (), ==, CUDA_CAPTURE_UNSUPPORTED);
  g_assert_true (arena_fake_capture_broken ());
}

static void
test_script (void)
{
  int n;

  arena_fake_reset ();
  g_assert_cmpint (arena_fake_script ("set_devices 3; inject cudaMalloc 1 1 2 0\n\nset_attr 1 115 0"), ==, 0);
  g_assert_cmpint (cudaGetDeviceCount (&n), ==, 0);
  g_assert_cmpint (n, ==, 3);
  g_assert_cmpint (cudaDeviceGetAttribute (&n, 115, 1), ==, 0);
  g_assert_cmpint (n, ==, 0);
  g_assert_cmpint (allocate (), ==, CUDA_MEMORY_ALLOCATION);
  g_assert_cmpint (arena_fake_script ("nonsense; inject cudaMalloc"), ==, 2);
}

static void
test_log (void)
{
  ArenaFakeEntry entry;

  arena_fake_reset ();
  g_assert_cmpuint (arena_fake_log (0, &entry), ==, 0);
  allocate ();
  g_assert_cmpuint (arena_fake_log (0, &entry), ==, 2);
  g_assert_cmpstr (entry.function, ==, "cudaMalloc");
  g_assert_cmpuint (entry.len, ==, 100);
  g_assert_cmpint (entry.tid, ==, gettid ());
  arena_fake_log (1, &entry);
  g_assert_cmpstr (entry.function, ==, "cudaFree");
  arena_fake_log_clear ();
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/fake/failures/no-driver-and-no-device", test_no_driver);
  arena_test_add ("/fake/failures/nth-call", test_injection);
  arena_test_add ("/fake/failures/lost-context", test_sticky);
  arena_test_add ("/fake/failures/of-foreign-launches", test_foreign);
  arena_test_add ("/fake/failures/capture-is-broken", test_capture);
  arena_test_add ("/fake/failures/script", test_script);
  arena_test_add ("/fake/failures/log", test_log);
  return g_test_run ();
}
