/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "cuda/arena-cuda-context.h"
#include "cuda/arena-cuda-error.h"

#include <dlfcn.h>

/* NVIDIA's own runtime where the loader finds one, on a machine without a driver: what the double says of that is true.
 * This program isn't linked with the double, which has the same name. */

/* Closing it again leaves nothing behind, since it was never initialised. */
static gboolean
find_runtime (int *driver)
{
  static const char *const sonames[] = { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" };

  for (guint i = 0; i < G_N_ELEMENTS (sonames); i++)
    {
      void *library = dlopen (sonames[i], RTLD_LAZY | RTLD_LOCAL);
      int (*get_version) (int *) = NULL;

      if (library == NULL)
        continue;
      *(void **) &get_version = dlsym (library, "cudaDriverGetVersion");
      g_assert_nonnull (get_version);
      g_assert_cmpint (get_version (driver), ==, 0);
      dlclose (library);
      return TRUE;
    }

  return FALSE;
}

/* Or skips the test. */
static gboolean
has_no_driver (void)
{
  int driver = 0;

  if (!find_runtime (&driver))
    g_test_skip ("no CUDA runtime library");
  else if (driver != 0)
    g_test_skip ("a CUDA driver is there");
  else
    return TRUE;
  return FALSE;
}

static void
assert_refused (GError **error)
{
  arena_test_assert_error (*error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_DRIVER, "finds no NVIDIA driver",
                           "install or update");
  g_clear_error (error);
}

static void
test_context (void)
{
  g_autoptr(GError) error = NULL;

  if (!has_no_driver ())
    return;
  for (guint i = 0; i < 3; i++)
    {
      g_assert_false (arena_cuda_context_is_supported ());
      g_assert_null (arena_cuda_context_get_default (&error));
      assert_refused (&error);
      g_assert_null (arena_cuda_context_get_for_device (0, &error));
      assert_refused (&error);
    }
}

/* And ordinary arenas work as before. */
static void
test_arenas (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaBackend) pool = g_initable_new (ARENA_TYPE_POOL, NULL, NULL, "segment-size", (guint64) 4096, "count", 2,
                                                 "pin-memory", TRUE, NULL);
  g_autoptr(ArenaBackend) ring = g_initable_new (ARENA_TYPE_RING, NULL, NULL, "capacity", (guint64) 8192, "pin-memory",
                                                 TRUE, NULL);
  ArenaSent sent;
  ArenaEnds ends;

  if (!has_no_driver ())
    return;
  g_assert_null (arena_backend_open_reader (pool, &error));
  assert_refused (&error);
  g_assert_null (arena_backend_open_reader (ring, &error));
  assert_refused (&error);

  arena_ends_open_pool (&ends, 4096, 2);
  sent = arena_ends_send (&ends, 4096, 1);
  arena_ends_pass (&ends, &sent);
  arena_ends_clear (&ends);
}

int
main (int    argc,
      char **argv)
{
  g_unsetenv ("ARENA_CUDART");
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda/real-runtime/context", test_context);
  arena_test_add ("/arena/cuda/real-runtime/arenas", test_arenas);
  return g_test_run ();
}
