/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-runtime.h"
#include "arena-test.h"
#include "cuda/arena-cuda-pin-private.h"
#include "memory/arena-memfd-private.h"
#include "memory/arena-pin-table-private.h"

#include <unistd.h>

/* Against a runtime of a few functions; tests/cuda has the scenarios. */

static ArenaCudaPin *
new_pin (ArenaCudaContext *context)
{
  g_autoptr(GError) error = NULL;
  int fd = arena_memfd_new ("arena-test", 3 * 4096, NULL, &error);
  ArenaMapping *mapping;

  g_assert_no_error (error);
  mapping = arena_mapping_new (fd, 3 * 4096, ARENA_MAPPING_WRITABLE, &error);
  g_assert_no_error (error);
  close (fd);
  context->runtime = arena_test_runtime_get ();
  context->device = 0;
  return arena_cuda_pin_new (mapping, 4096, context);
}

static void
test_acquire (void)
{
  g_autoptr(ArenaCudaContext) context = g_object_new (ARENA_TYPE_CUDA_CONTEXT, NULL);
  ArenaCudaPin *pin = new_pin (context);
  const guint8 *data = arena_mapping_get_data (pin->mapping);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (arena_cuda_pin_acquire (pin, &error));
      g_assert_cmpuint (arena_test_runtime.n_registered, ==, 3);
      g_assert_true (arena_pin_table_covers (data + 4096, 4096));
      g_assert_true (arena_cuda_pin_release (pin, &error)); /* it is wanted */
      g_assert_cmpuint (arena_cuda_pin_count (pin), ==, 3);
    }

  atomic_store (&pin->wanted, FALSE);
  g_assert_true (arena_cuda_pin_release (pin, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (arena_test_runtime.n_registered, ==, 0);
  g_assert_false (arena_pin_table_covers (data + 4096, 1));
  arena_mapping_unref (pin->mapping);
}

static void
test_refused (void)
{
  g_autoptr(ArenaCudaContext) context = g_object_new (ARENA_TYPE_CUDA_CONTEXT, NULL);
  ArenaCudaPin *pin = new_pin (context);
  g_autoptr(GError) error = NULL;

  arena_test_runtime.refuse_from = 2;
  g_assert_false (arena_cuda_pin_acquire (pin, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_REGISTER, "segment 2 of 3, 4096 bytes at ");
  g_assert_cmpuint (arena_test_runtime.n_registered, ==, 0);
  g_assert_cmpuint (arena_cuda_pin_count (pin), ==, 0);
  g_assert_true (arena_pin_table_is_empty ());
  arena_test_runtime.refuse_from = G_MAXUINT;
  arena_mapping_unref (pin->mapping);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-pin/acquire-and-release", test_acquire);
  arena_test_add ("/arena/cuda-pin/refused-as-a-whole", test_refused);
  return g_test_run ();
}
