/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"
#include "scenario.h"

/* What a ring with pin-memory gives out was copied once, into pinned memory, and keeps nothing of the ring (F41, F51). */

#define CAPACITY 8192

static void
open_ring (ArenaEnds *ends)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *ring = g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) CAPACITY,
                                       "pin-memory", TRUE, NULL);

  g_assert_no_error (error);
  scenario_open (ends, ring, &error);
  g_assert_no_error (error);
}

static void
test_kept (void)
{
  GBytes *kept[20];
  ArenaSent sent[20];
  ArenaEnds ends;

  open_ring (&ends);
  for (guint i = 0; i < 20; i++)
    {
      sent[i] = arena_ends_send (&ends, 5000, i);
      kept[i] = arena_ends_take (&ends, &sent[i]);
      g_assert_true (arena_fake_is_pinned (g_bytes_get_data (kept[i], NULL), 5000));
    }
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 20);
  g_assert_cmpuint (arena_fake_count ("cudaHostRegister"), ==, 0);
  scenario_close (&ends);

  for (guint i = 0; i < 20; i++)
    {
      arena_ends_check (kept[i], &sent[i]);
      g_bytes_unref (kept[i]);
    }
}

static void
test_used_again (void)
{
  ArenaEnds ends;

  open_ring (&ends);
  for (guint i = 0; i < 50; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 5000, i);

      arena_ends_pass (&ends, &sent);
    }
  g_assert_cmpuint (arena_fake_count ("cudaHostAlloc"), ==, 1);
  scenario_close (&ends);
}

/* The copy to the device reads the ring's output where it is. */
static void
test_transferred (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  gconstpointer data;
  ArenaSent sent;
  ArenaEnds ends;
  GBytes *bytes;

  open_ring (&ends);
  sent = arena_ends_send (&ends, 5000, 7);
  bytes = arena_ends_take (&ends, &sent);
  data = g_bytes_get_data (bytes, NULL);
  buffers = cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
  g_bytes_unref (bytes);
  g_assert_cmpuint (cuda_test_get_call ("cudaMemcpyAsync", 0).ptr, ==, (guintptr) data);
  cuda_test_check_buffer (buffers, 0, 5000, 7);
  scenario_close (&ends);
}

static void
test_refused (void)
{
  g_autoptr(GError) error = NULL;
  ArenaSent sent;
  ArenaEnds ends;

  open_ring (&ends);
  sent = arena_ends_send (&ends, 5000, 7);
  arena_fake_inject ("cudaHostAlloc", 1, 2, CUDA_MEMORY_ALLOCATION, FALSE);
  g_assert_null (arena_reader_read (ends.reader, sent.span, sent.offset, sent.size, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "8192 bytes");
  arena_ends_pass (&ends, &sent);
  scenario_close (&ends);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/36-ring-copies-into-pinned/kept", test_kept);
  cuda_test_add ("/arena/cuda/36-ring-copies-into-pinned/used-again", test_used_again);
  cuda_test_add ("/arena/cuda/36-ring-copies-into-pinned/transferred", test_transferred);
  cuda_test_add ("/arena/cuda/36-ring-copies-into-pinned/refused", test_refused);
  return g_test_run ();
}
