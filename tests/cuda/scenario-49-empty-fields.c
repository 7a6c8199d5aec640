/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "base/arena-error.h"
#include "unit/arena-dtype.h"

/* Fields without bytes cost no call, and a transfer without fields is none; each runs once. */

static void
test_empty_field (void)
{
  g_autoptr(GPtrArray) buffers = NULL;
  GBytes *empty = g_bytes_new (NULL, 0), *bytes = cuda_test_make_bytes (10, 1), *back;

  buffers = cuda_test_run (cuda_test_transfer_new (empty, bytes, empty));
  g_assert_cmpuint (buffers->len, ==, 3);
  cuda_test_check_buffer (buffers, 0, 0, 0);
  cuda_test_check_buffer (buffers, 1, 10, 1);
  g_assert_cmpuint (arena_fake_count ("cudaMemcpyAsync"), ==, 1);
  g_assert_cmpuint (arena_device_buffer_get_pointer (buffers->pdata[0]), ==, 0);
  back = arena_device_buffer_download (buffers->pdata[0], NULL);
  g_assert_cmpuint (g_bytes_get_size (back), ==, 0);
  g_bytes_unref (back);
  g_bytes_unref (empty);
  g_bytes_unref (bytes);
}

static void
test_no_fields (void)
{
  g_autoptr(GPtrArray) buffers = cuda_test_run (cuda_test_transfer_new (NULL, NULL, NULL));

  g_assert_cmpuint (buffers->len, ==, 0);
}

static void
test_once (void)
{
  g_autoptr(ArenaTransfer) transfer = cuda_test_transfer_new (NULL, NULL, NULL);
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (10, 1);
  g_autoptr(GError) error = NULL;

  g_ptr_array_unref (arena_transfer_run (transfer, NULL, NULL));
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_null (arena_transfer_enqueue (transfer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_cmpint (arena_transfer_add (transfer, bytes, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

static void
test_by_hand (void)
{
  const guint64 none = 0;
  g_autoptr(ArenaTransfer) transfer = g_object_new (ARENA_TYPE_TRANSFER, NULL);
  g_autoptr(ArenaDeviceBuffer) buffer = g_object_new (ARENA_TYPE_DEVICE_BUFFER, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
  g_assert_null (arena_device_buffer_download (buffer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_device_buffer_is_ready (buffer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_cmpuint (arena_device_buffer_export_dlpack (buffer, ARENA_DTYPE_UINT8, &none, 1, TRUE, &error), ==, 0);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/49-empty-fields/empty-field", test_empty_field);
  cuda_test_add ("/arena/cuda/49-empty-fields/no-fields", test_no_fields);
  cuda_test_add ("/arena/cuda/49-empty-fields/once", test_once);
  cuda_test_add ("/arena/cuda/49-empty-fields/by-hand", test_by_hand);
  return g_test_run ();
}
