/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "cuda/arena-pinned-allocator.h"
#include "unit/arena-dtype.h"

/* A forked child that drops what its parent copies with makes no call of CUDA; asking for more is FORKED. */

typedef struct
{
  ArenaPinnedAllocator *allocator;
  GBytes               *pinned;
  GPtrArray            *buffers;
  GBytes               *bytes;
} Things;

static void
make (Things *things)
{
  things->allocator = arena_pinned_allocator_new (cuda_test_get_context (), NULL);
  things->pinned = arena_pinned_allocator_alloc (things->allocator, 100, NULL);
  g_assert_true (arena_pinned_allocator_record_stream (things->allocator, things->pinned, 1, NULL));
  things->bytes = cuda_test_make_bytes (1000, 1);
  things->buffers = cuda_test_enqueue (cuda_test_transfer_new (things->bytes, NULL, NULL));
}

static void
drop (Things *things)
{
  g_bytes_unref (things->pinned);
  g_bytes_unref (things->bytes);
  g_ptr_array_unref (things->buffers);
  g_object_unref (things->allocator);
}

static void
assert_forked (GError **error)
{
  arena_test_assert_error (*error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_FORKED, "spawn");
}

static int
use_in_child (gpointer data)
{
  const guint64 size = 1000;
  Things *things = data;
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (arena_pinned_allocator_get_context (things->allocator));
  g_autoptr(GPtrArray) none = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_pinned_allocator_alloc (things->allocator, 100, &error));
  assert_forked (&error);
  g_assert_false (arena_pinned_allocator_record_stream (things->allocator, things->pinned, 1, &error));
  assert_forked (&error);
  arena_pinned_allocator_trim (things->allocator);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  assert_forked (&error);
  g_assert_false (arena_device_buffer_is_ready (things->buffers->pdata[0], &error));
  assert_forked (&error);
  g_assert_null (arena_device_buffer_download (things->buffers->pdata[0], &error));
  assert_forked (&error);
  g_assert_cmpuint (arena_device_buffer_export_dlpack (things->buffers->pdata[0], ARENA_DTYPE_UINT8, &size, 1, TRUE, &error),
                    ==, 0);
  assert_forked (&error);
  none = arena_cuda_context_list_quarantine (arena_pinned_allocator_get_context (things->allocator));
  g_assert_cmpuint (none->len, ==, 0);
  drop (things);
  return 0;
}

static void
test_child (void)
{
  Things things;

  make (&things);
  arena_test_assert_child (use_in_child, &things);
  g_assert_cmpuint (arena_fake_child_calls (), ==, 0);
  g_assert_true (arena_device_buffer_synchronize (things.buffers->pdata[0], NULL));
  cuda_test_check_buffer (things.buffers, 0, 1000, 1);
  drop (&things);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/copies-in-forked-child/no-call", test_child);
  return g_test_run ();
}
