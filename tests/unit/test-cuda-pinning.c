/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "cuda/arena-cuda-error.h"
#include "memory/arena-memfd-private.h"
#include "memory/arena-pin-private.h"

#include <unistd.h>

/* Without a library; tests/cuda has the rest. */

static void
test_piece_limit (void)
{
  const gsize limit = (gsize) 512 << 30;
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_pin_check (TRUE, limit, limit, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NOT_SUPPORTED, "549755813888 bytes can't",
                           "smaller than 549755813888");
  g_assert_false (arena_pin_check (TRUE, limit, limit - 4096, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE);
}

/* A mapping that was never pinned is none of this file's business. */
static void
test_never_pinned (void)
{
  g_autoptr(GError) error = NULL;
  int fd = arena_memfd_new ("arena-test", 4096, NULL, &error);
  ArenaMapping *mapping = arena_mapping_new (fd, 4096, ARENA_MAPPING_WRITABLE, &error);

  g_assert_no_error (error);
  g_assert_true (arena_pin_release (mapping, &error));
  g_assert_false (arena_pin_mapping (mapping, 4096, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNAVAILABLE);
  g_assert_null (arena_mapping_get_retire_data (mapping));
  g_assert_true (arena_pin_release (mapping, &error));
  arena_mapping_unref (mapping);
  close (fd);
}

int
main (int    argc,
      char **argv)
{
  g_setenv ("ARENA_CUDART", "/nonexistent/libcudart.so", TRUE);
  g_unsetenv ("LOCAL_RANK");
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-pinning/piece-limit", test_piece_limit);
  arena_test_add ("/arena/cuda-pinning/never-pinned", test_never_pinned);
  return g_test_run ();
}
