/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "fake-cudart.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The double's page-locking: rules of the real one, and an eye on what is unmapped meanwhile. */

#define SIZE (8 * 4096)

static guint8 *
map (int protection)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);
  guint8 *data;

  g_assert_no_errno (ftruncate (fd, SIZE));
  data = mmap (NULL, SIZE, protection, MAP_SHARED, fd, 0);
  g_assert_true (data != MAP_FAILED);
  close (fd);
  return data;
}

static void
assert_violated (const char *text)
{
  const char *found;

  g_assert_cmpuint (arena_fake_violations (&found), >, 0);
  g_assert_nonnull (strstr (found, text));
}

static void
test_rules (void)
{
  guint8 *data = map (PROT_READ | PROT_WRITE);
  ArenaFakeLive live;

  arena_fake_reset ();
  g_assert_cmpint (cudaHostRegister (data, 0, 1), ==, CUDA_INVALID_VALUE);
  g_assert_cmpint (cudaHostUnregister (data), ==, CUDA_NOT_REGISTERED);
  g_assert_cmpint (cudaHostRegister (data, SIZE, 1), ==, 0);
  g_assert_cmpint (cudaHostRegister (data + 4096, 4096, 1), ==, CUDA_ALREADY_REGISTERED);
  g_assert_cmpint (cudaHostUnregister (data + 4096), ==, CUDA_INVALID_VALUE);
  arena_fake_live (&live);
  g_assert_cmpuint (live.pins, ==, 1);
  g_assert_cmpuint (live.pinned_bytes, ==, SIZE);
  g_assert_true (arena_fake_is_pinned (data + 1, SIZE - 1));
  g_assert_false (arena_fake_is_pinned (data + 1, SIZE));
  g_assert_cmpint (cudaHostUnregister (data), ==, 0);
  g_assert_cmpuint (arena_fake_count ("cudaHostRegister"), ==, 3);
  g_assert_no_errno (munmap (data, SIZE));
  g_assert_cmpuint (arena_fake_count ("munmap"), ==, 1);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 0);
}

static void
test_limits (void)
{
  guint8 *data = map (PROT_READ | PROT_WRITE), *constant = map (PROT_READ);

  arena_fake_reset ();
  arena_fake_pin_limit (SIZE + 100);
  g_assert_cmpint (cudaHostRegister (data, SIZE, 1), ==, 0);
  g_assert_cmpint (cudaHostRegister (constant, SIZE, 1), ==, CUDA_INVALID_VALUE);
  g_assert_cmpint (cudaHostRegister (constant, SIZE, 9), ==, CUDA_MEMORY_ALLOCATION);
  arena_fake_pin_limit (0);
  arena_fake_set_attr (0, CUDA_ATTRIBUTE_READ_ONLY_REGISTER, 0);
  g_assert_cmpint (cudaHostRegister (constant, SIZE, 9), ==, CUDA_NOT_SUPPORTED);
  arena_fake_set_attr (0, CUDA_ATTRIBUTE_READ_ONLY_REGISTER, 1);
  g_assert_cmpint (cudaHostRegister (constant, SIZE, 9), ==, 0);
  g_assert_cmpint (cudaHostUnregister (constant), ==, 0);
  g_assert_cmpint (cudaHostUnregister (data), ==, 0);
  munmap (data, SIZE);
  munmap (constant, SIZE);
}

static void
test_unmapped (void)
{
  guint8 *data = map (PROT_READ | PROT_WRITE);

  arena_fake_reset ();
  g_assert_cmpint (cudaHostRegister (data, SIZE, 1), ==, 0);
  munmap (data, SIZE);
  assert_violated ("munmap");
  assert_violated ("audit");
  g_assert_cmpint (cudaHostUnregister (data), ==, 0);
}

static void
test_mapped_over (void)
{
  guint8 *data = map (PROT_READ | PROT_WRITE);

  arena_fake_reset ();
  g_assert_cmpint (cudaHostRegister (data, SIZE, 1), ==, 0);
  g_assert_true (mmap (data, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == data);
  assert_violated ("mmap");
  assert_violated ("audit");
  g_assert_cmpint (cudaHostUnregister (data), ==, 0);
  munmap (data, SIZE);
}

static void
test_unregistered_in_use (void)
{
  guint8 *data = map (PROT_READ | PROT_WRITE);
  CudaStream stream;
  void *device;

  arena_fake_reset ();
  g_assert_cmpint (cudaHostRegister (data, SIZE, 1), ==, 0);
  g_assert_cmpint (cudaMalloc (&device, SIZE), ==, 0);
  g_assert_cmpint (cudaStreamCreateWithFlags (&stream, CUDA_STREAM_NON_BLOCKING), ==, 0);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (device, data, SIZE, CUDA_HOST_TO_DEVICE, stream), ==, 0);
  g_assert_cmpint (cudaHostUnregister (data), ==, 0);
  assert_violated ("cudaHostUnregister");
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
  munmap (data, SIZE);
}

static void
test_kinds (void)
{
  CudaPointerAttributes attributes;
  guint8 *data = map (PROT_READ | PROT_WRITE);
  void *host, *device;

  arena_fake_reset ();
  g_assert_cmpint (cudaHostAlloc (&host, 100, 1), ==, 0);
  g_assert_cmpint (cudaMalloc (&device, 100), ==, 0);
  g_assert_cmpint (cudaPointerGetAttributes (&attributes, data), ==, 0);
  g_assert_cmpint (attributes.type, ==, CUDA_MEMORY_UNREGISTERED);
  g_assert_cmpint (cudaPointerGetAttributes (&attributes, (char *) host + 50), ==, 0);
  g_assert_cmpint (attributes.type, ==, CUDA_MEMORY_HOST);
  g_assert_cmpint (cudaPointerGetAttributes (&attributes, device), ==, 0);
  g_assert_cmpint (attributes.type, ==, CUDA_MEMORY_DEVICE);
  g_assert_cmpint (cudaHostUnregister (host), ==, CUDA_INVALID_VALUE);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaFreeHost (host), ==, 0);
  g_assert_cmpint (cudaFreeHost (host), ==, CUDA_INVALID_VALUE);
  munmap (data, SIZE);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/fake/registrations/rules", test_rules);
  arena_test_add ("/fake/registrations/limits", test_limits);
  arena_test_add ("/fake/registrations/unmapping-is-noticed", test_unmapped);
  arena_test_add ("/fake/registrations/mapping-over-is-noticed", test_mapped_over);
  arena_test_add ("/fake/registrations/unregistering-in-use-is-noticed", test_unregistered_in_use);
  arena_test_add ("/fake/registrations/kinds-of-memory", test_kinds);
  return g_test_run ();
}
