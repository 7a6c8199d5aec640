/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "base/arena-error.h"
#include "cuda/arena-dlpack-private.h"
#include "unit/arena-dtype.h"

/* What a tensor library is told, and that its deleter, called on a thread of its own, gives up the buffer. */

static GPtrArray *
make (void)
{
  g_autoptr(GBytes) bytes = cuda_test_make_bytes (4 * 6, 1);

  return cuda_test_run (cuda_test_transfer_new (bytes, NULL, NULL));
}

static void
check_tensor (const ArenaDLTensor *tensor,
              guint64              pointer)
{
  g_assert_cmpuint (GPOINTER_TO_SIZE (tensor->data), ==, pointer);
  g_assert_cmpint (tensor->device_type, ==, 2);
  g_assert_cmpint (tensor->device_id, ==, 0);
  g_assert_cmpint (tensor->n_dims, ==, 2);
  g_assert_cmpint (tensor->shape[0], ==, 2);
  g_assert_cmpint (tensor->shape[1], ==, 3);
  g_assert_null (tensor->strides);
  g_assert_cmpuint (tensor->byte_offset, ==, 0);
  g_assert_cmpuint (tensor->code, ==, 2);
  g_assert_cmpuint (tensor->bits, ==, 32);
  g_assert_cmpuint (tensor->lanes, ==, 1);
}

static gpointer
delete_managed (gpointer data)
{
  ArenaDLManaged *managed = data;

  managed->deleter (managed);
  return NULL;
}

static void
test_managed (void)
{
  const guint64 shape[] = { 2, 3 };
  GPtrArray *buffers = make ();
  ArenaDeviceBuffer *buffer = buffers->pdata[0];
  guint64 pointer = arena_device_buffer_get_pointer (buffer);
  ArenaDLManaged *managed;

  managed = GSIZE_TO_POINTER (arena_device_buffer_export_dlpack (buffer, ARENA_DTYPE_FLOAT32, shape, 2, FALSE, NULL));
  g_ptr_array_unref (buffers);
  check_tensor (&managed->tensor, pointer);
  cuda_test_check_device (managed->tensor.data, 24, 1);
  g_assert_cmpuint (arena_fake_count ("cudaFreeAsync"), ==, 0);
  g_thread_join (g_thread_new ("delete", delete_managed, managed));
  g_assert_cmpuint (arena_fake_count ("cudaFreeAsync"), ==, 1);
}

static void
test_versioned (void)
{
  const guint64 shape[] = { 2, 3 };
  g_autoptr(GPtrArray) buffers = make ();
  ArenaDLVersioned *versioned;

  versioned = GSIZE_TO_POINTER (arena_device_buffer_export_dlpack (buffers->pdata[0], ARENA_DTYPE_FLOAT32, shape, 2, TRUE,
                                                                   NULL));
  g_assert_cmpuint (versioned->major, ==, 1);
  g_assert_cmpuint (versioned->flags, ==, 0);
  check_tensor (&versioned->tensor, arena_device_buffer_get_pointer (buffers->pdata[0]));
  versioned->deleter (versioned);
}

static void
test_refused (void)
{
  const struct { guint64 shape[2]; const char *text; } bad[] = {
    { { 2, 4 }, "has 32 bytes" },
    { { 25, 1 }, "has 100 bytes" },
    { { G_MAXUINT64, 2 }, "more than 9223372036854775807 bytes" },
    { { G_GUINT64_CONSTANT (1) << 62, 4 }, "more than 9223372036854775807 bytes" },
    { { 0, G_MAXUINT64 }, "more than 9223372036854775807 bytes" },
  };
  const guint64 many[33] = { 0 };
  g_autoptr(GPtrArray) buffers = make ();
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_assert_cmpuint (arena_device_buffer_export_dlpack (buffers->pdata[0], ARENA_DTYPE_FLOAT32, bad[i].shape, 2, FALSE,
                                                           &error), ==, 0);
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "buffer of 24 bytes", bad[i].text);
    }
  g_assert_cmpuint (arena_device_buffer_export_dlpack (buffers->pdata[0], (ArenaDType) 7, bad[0].shape, 2, FALSE, &error), ==,
                    0);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "0x7 is not a data type");
  g_assert_cmpuint (arena_device_buffer_export_dlpack (buffers->pdata[0], ARENA_DTYPE_FLOAT32, many, 33, FALSE, &error), ==,
                    0);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "33 dimensions; at most 32");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  cuda_test_add ("/arena/cuda/dlpack/managed", test_managed);
  cuda_test_add ("/arena/cuda/dlpack/versioned", test_versioned);
  cuda_test_add ("/arena/cuda/dlpack/refused", test_refused);
  return g_test_run ();
}
