/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

/* The consumer drops unit and view while the device still reads them: the producer gets the segment after the copy
 * (C49, C89). */

typedef struct
{
  ArenaEnds ends;
  GBytes   *view;
} Set;

static void
set_up (Set *set)
{
  ArenaSent sent;

  scenario_open_pool (&set->ends, 1);
  sent = arena_ends_send (&set->ends, SCENARIO_PAGE, 1);
  set->view = arena_ends_take (&set->ends, &sent);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
}

static gboolean
overwrite (Set *set)
{
  ArenaSent sent;

  if (!arena_ends_try_send (&set->ends, SCENARIO_PAGE, 2, 0, &sent, NULL))
    return FALSE;

  arena_ends_pass (&set->ends, &sent);
  return TRUE;
}

static void
test_kept (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  Set set;

  set_up (&set);
  buffers = cuda_test_enqueue (cuda_test_transfer_new (set.view, NULL, NULL));
  g_bytes_unref (set.view);
  cuda_test_sweep ();
  g_assert_false (overwrite (&set));

  arena_fake_step (NULL, -1);
  g_assert_true (arena_device_buffer_synchronize (buffers->pdata[0], NULL));
  cuda_test_sweep ();
  g_assert_true (overwrite (&set));
  cuda_test_check_buffer (buffers, 0, SCENARIO_PAGE, 1);
  scenario_close (&set.ends);
}

/* A helper that drops the view when the copy was enqueued: the double notices (F49). */
static void
test_negative_control (void)
{
  CudaStream stream = cuda_test_stream_new ();
  void *device;
  Set set;

  set_up (&set);
  g_assert_cmpint (cudaMalloc (&device, SCENARIO_PAGE), ==, 0);
  g_assert_cmpint (cudaMemcpyAsync (device, g_bytes_get_data (set.view, NULL), SCENARIO_PAGE, CUDA_HOST_TO_DEVICE, stream),
                   ==, 0);
  g_bytes_unref (set.view);
  g_assert_true (overwrite (&set));
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  cuda_test_expect_violation ("changed in flight");
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
  scenario_close (&set.ends);
}

static void
open_ring (ArenaEnds *ends,
           gboolean   pin)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *ring = g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) 8192, "pin-memory", pin, NULL);

  g_assert_no_error (error);
  scenario_open (ends, ring, &error);
  g_assert_no_error (error);
  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
}

static GBytes *
pass_unit (ArenaEnds *ends,
           guint64    seed)
{
  ArenaSent sent = arena_ends_send (ends, 4000, seed);

  return arena_ends_take (ends, &sent);
}

/* A ring's output is a buffer that the next unit gets. */
static void
test_ring_output (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  ArenaEnds ends;
  GBytes *bytes;

  open_ring (&ends, TRUE);
  bytes = pass_unit (&ends, 0);
  buffers = cuda_test_enqueue (cuda_test_transfer_new (bytes, NULL, NULL));
  g_bytes_unref (bytes);
  for (guint i = 1; i < 3; i++)
    g_bytes_unref (pass_unit (&ends, i));
  arena_fake_step (NULL, -1);
  g_assert_true (arena_device_buffer_synchronize (buffers->pdata[0], NULL));
  cuda_test_check_buffer (buffers, 0, 4000, 0);
  cuda_test_sweep ();
  scenario_close (&ends);
}

/* F49: a copy by other means, after which the next unit is written to the same memory. */
static void
copy_by_hand (gboolean pin)
{
  CudaStream stream = cuda_test_stream_new ();
  ArenaEnds ends;
  GBytes *bytes;
  void *device;

  open_ring (&ends, pin);
  bytes = pass_unit (&ends, 0);
  g_assert_cmpint (cudaMalloc (&device, 4000), ==, 0);
  g_assert_cmpint (cudaMemcpyAsync (device, g_bytes_get_data (bytes, NULL), 4000, CUDA_HOST_TO_DEVICE, stream), ==, 0);
  g_bytes_unref (bytes);
  g_bytes_unref (pass_unit (&ends, 1));
  arena_fake_step (NULL, -1);
  g_assert_cmpint (cudaStreamSynchronize (stream), ==, 0);
  if (pin)
    cuda_test_expect_violation ("changed in flight");
  else
    cuda_test_check_device (device, 4000, 0);
  g_assert_cmpint (cudaFree (device), ==, 0);
  g_assert_cmpint (cudaStreamDestroy (stream), ==, 0);
  scenario_close (&ends);
}

static void
test_ring_negative_control (void)
{
  copy_by_hand (TRUE);
}

/* Copies from ordinary memory read all of it before they return. */
static void
test_unpinned_ring (void)
{
  copy_by_hand (FALSE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/54-source-is-kept-in-flight/55-dropped-unit-is-kept", test_kept);
  cuda_test_add ("/arena/cuda/54-source-is-kept-in-flight/negative-control", test_negative_control);
  cuda_test_add ("/arena/cuda/54-source-is-kept-in-flight/ring-output", test_ring_output);
  cuda_test_add ("/arena/cuda/54-source-is-kept-in-flight/ring-negative-control", test_ring_negative_control);
  cuda_test_add ("/arena/cuda/54-source-is-kept-in-flight/unpinned-ring-needs-none", test_unpinned_ring);
  return g_test_run ();
}
