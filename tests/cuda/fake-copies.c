/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "fake-cudart.h"

#include <string.h>

/* The double's copies: they run when they are let, and what a real device would answer with damaged data is noticed. */

#define SIZE 10000

typedef struct
{
  CudaStream stream;
  guint8    *host;   /* pinned */
  void      *device;
} Set;

static void
set_up (Set *set)
{
  arena_fake_reset ();
  g_assert_cmpint (cudaStreamCreateWithFlags (&set->stream, CUDA_STREAM_NON_BLOCKING), ==, 0);
  g_assert_cmpint (cudaHostAlloc ((void **) &set->host, SIZE, CUDA_HOST_PORTABLE), ==, 0);
  g_assert_cmpint (cudaMallocAsync (&set->device, SIZE, set->stream), ==, 0);
  arena_test_fill_pattern (set->host, SIZE, 1);
}

static void
tear_down (Set *set)
{
  ArenaFakeLive live;

  g_assert_cmpint (cudaFreeAsync (set->device, set->stream), ==, 0);
  g_assert_cmpint (cudaStreamSynchronize (set->stream), ==, 0);
  g_assert_cmpint (cudaFreeHost (set->host), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (set->stream), ==, 0);
  arena_fake_live (&live);
  g_assert_cmpuint (live.host_allocs + live.device_allocs + live.streams + live.pending, ==, 0);
}

static void
assert_violations (const char *text)
{
  const char *found;

  if (text == NULL)
    g_assert_cmpuint (arena_fake_violations (&found), ==, 0);
  else
    {
      g_assert_cmpuint (arena_fake_violations (&found), >, 0);
      g_assert_nonnull (strstr (found, text));
    }
}

static guint8 *
read_back (Set *set)
{
  guint8 *copy = g_malloc (SIZE);

  g_assert_cmpint (cudaMemcpy (copy, set->device, SIZE, CUDA_DEVICE_TO_HOST), ==, 0);
  return copy;
}

static void
test_round_trip (void)
{
  g_autofree guint8 *copy = NULL;
  Set set;

  set_up (&set);
  g_assert_cmpint (cudaMemcpyAsync (set.device, set.host, SIZE, CUDA_HOST_TO_DEVICE, set.stream), ==, 0);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  copy = read_back (&set);
  g_assert_true (arena_test_check_pattern (copy, SIZE, 1));
  assert_violations (NULL);
  tear_down (&set);
}

/* What a test asks for, so that it sees a checker notice. */
static void
test_damage (void)
{
  Set set;

  set_up (&set);
  g_assert_cmpint (cudaMemcpy (set.device, set.host, SIZE, CUDA_HOST_TO_DEVICE), ==, 0);
  arena_fake_damage (2);
  for (guint i = 1; i <= 3; i++)
    {
      g_autofree guint8 *copy = read_back (&set);

      g_assert_true ((copy[SIZE / 2] == set.host[SIZE / 2]) == (i != 2));
      copy[SIZE / 2] = set.host[SIZE / 2];
      g_assert_true (arena_test_check_pattern (copy, SIZE, 1));
    }
  tear_down (&set);
}

static void
test_gate (void)
{
  g_autofree guint8 *before = NULL, *after = NULL;
  Set set;

  set_up (&set);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (set.device, set.host, SIZE, CUDA_HOST_TO_DEVICE, set.stream), ==, 0);
  g_assert_cmpint (cudaStreamQuery (set.stream), ==, CUDA_NOT_READY);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_NOT_READY);
  g_assert_cmpint (cudaGetLastError (), ==, 0);
  before = read_back (&set);
  g_assert_cmpuint (before[0], ==, 0xdb);

  arena_fake_step (set.stream, 1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  g_assert_cmpint (cudaStreamQuery (set.stream), ==, 0);
  after = read_back (&set);
  g_assert_true (arena_test_check_pattern (after, SIZE, 1));
  tear_down (&set);
}

static void
test_source_changed (void)
{
  Set set;

  set_up (&set);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (set.device, set.host, SIZE, CUDA_HOST_TO_DEVICE, set.stream), ==, 0);
  set.host[SIZE - 1] ^= 1;
  arena_fake_step (set.stream, 1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  assert_violations ("changed in flight");
  tear_down (&set);
}

/* Pageable memory is read before the call returns. */
static void
test_pageable_source (void)
{
  g_autofree guint8 *source = g_malloc (SIZE), *copy = NULL;
  Set set;

  set_up (&set);
  arena_test_fill_pattern (source, SIZE, 2);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (set.device, source, SIZE, CUDA_HOST_TO_DEVICE, set.stream), ==, 0);
  memset (source, 0, SIZE);
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  copy = read_back (&set);
  g_assert_true (arena_test_check_pattern (copy, SIZE, 2));
  assert_violations (NULL);
  tear_down (&set);
}

static void
test_freed_in_use (void)
{
  void *other;
  Set set;

  set_up (&set);
  g_assert_cmpint (cudaHostAlloc (&other, SIZE, 0), ==, 0);
  memset (other, 0, SIZE);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (cudaMemcpyAsync (set.device, other, SIZE, CUDA_HOST_TO_DEVICE, set.stream), ==, 0);
  g_assert_cmpint (cudaFreeHost (other), ==, 0);
  assert_violations ("cudaFreeHost");
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  assert_violations ("is gone");
  tear_down (&set);
}

static void
test_device_freed_in_use (void)
{
  CudaStream other;
  Set set;

  set_up (&set);
  g_assert_cmpint (cudaStreamCreateWithFlags (&other, CUDA_STREAM_NON_BLOCKING), ==, 0);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  g_assert_cmpint (arena_fake_launch (other, set.device, SIZE), ==, 0);
  g_assert_cmpint (cudaFreeAsync (set.device, set.stream), ==, 0);
  g_assert_cmpint (cudaStreamSynchronize (set.stream), ==, 0);
  assert_violations ("cudaFreeAsync");
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (other), ==, 0);
  assert_violations ("running kernel");
  g_assert_cmpint (cudaStreamDestroy (other), ==, 0);
  g_assert_cmpint (cudaMallocAsync (&set.device, SIZE, set.stream), ==, 0);
  tear_down (&set);
}

static void
test_ranges (void)
{
  Set set;

  set_up (&set);
  g_assert_cmpint (cudaMemcpyAsync ((char *) set.device + 1, set.host, SIZE, CUDA_HOST_TO_DEVICE, set.stream), ==, 1);
  assert_violations ("not in device memory");
  arena_fake_reset ();
  /* Leaves its registration: page-locked memory comes in whole pages. */
  g_assert_cmpint (cudaMemcpyAsync (set.device, set.host + 3 * 4096 - 100, 200, CUDA_HOST_TO_DEVICE, set.stream), ==, 1);
  g_assert_cmpint (cudaMemcpyAsync (set.device, set.device, 0, CUDA_HOST_TO_DEVICE, set.stream), ==, 0);
  assert_violations (NULL);
  tear_down (&set);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/fake/copies/round-trip", test_round_trip);
  arena_test_add ("/fake/copies/damage", test_damage);
  arena_test_add ("/fake/copies/run-when-let", test_gate);
  arena_test_add ("/fake/copies/changed-source-is-noticed", test_source_changed);
  arena_test_add ("/fake/copies/pageable-source-is-staged", test_pageable_source);
  arena_test_add ("/fake/copies/freed-source-is-noticed", test_freed_in_use);
  arena_test_add ("/fake/copies/freed-device-memory-is-noticed", test_device_freed_in_use);
  arena_test_add ("/fake/copies/ranges-are-checked", test_ranges);
  return g_test_run ();
}
