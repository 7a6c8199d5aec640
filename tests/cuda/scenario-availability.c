/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include <dlfcn.h>
#include <string.h>

/* What the consumer of a pinned pool is told where CUDA isn't there, or not all of it. */

static void
assert_refused (ArenaCudaError  code,
                const char     *text,
                const char     *advice)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  g_assert_false (scenario_open (&ends, scenario_pool_new (2, NULL, 0), &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, code, text, advice);
  arena_ends_clear (&ends);
}

static void
test_no_library (void)
{
  g_setenv ("ARENA_CUDART", "/nonexistent/libcudart.so.13", TRUE);
  assert_refused (ARENA_CUDA_ERROR_UNAVAILABLE, "/nonexistent/libcudart.so.13", "name one in ARENA_CUDART");
  g_assert_false (arena_cuda_context_is_supported ());
  g_assert_cmpuint (arena_fake_log (0, NULL), ==, 0);
}

static void
test_no_driver (void)
{
  arena_fake_set_driver (0);
  assert_refused (ARENA_CUDA_ERROR_NO_DRIVER, "(version 13.0) finds no NVIDIA driver", "install or update");
  g_assert_false (arena_cuda_context_is_supported ());

  /* It isn't kept: there may be one now. */
  arena_fake_set_driver (13000);
  g_assert_true (arena_cuda_context_is_supported ());
}

static void
test_stub (void)
{
  arena_fake_set_stub (true);
  assert_refused (ARENA_CUDA_ERROR_NO_DRIVER, "cudaErrorStubLibrary (34)", "stub of libcuda");
}

static void
load_old_runtime (void)
{
  g_assert_nonnull (dlopen (g_getenv ("ARENA_TEST_OLD_CUDART"), RTLD_NOW | RTLD_LOCAL));
}

/* Both are loaded; the driver is too old for one. */
static void
test_too_new (void)
{
  ArenaCudaContext *context;

  g_unsetenv ("ARENA_CUDART");
  arena_fake_set_driver (12040);
  load_old_runtime ();
  context = arena_cuda_context_get_default (NULL);
  g_assert_nonnull (context);
  g_assert_cmpuint (arena_cuda_context_get_runtime_version (context), ==, 11000);
  g_assert_nonnull (strstr (arena_cuda_context_get_library_path (context), "libcudart.so.11.0"));
}

static void
test_too_new_alone (void)
{
  arena_fake_set_driver (12040);
  assert_refused (ARENA_CUDA_ERROR_NO_DRIVER, "(version 13.0) is too new for the driver, which is for 12.4",
                  "install or update");
}

/* Whatever else in this process uses CUDA gets the same instance. */
static void
test_loaded_first (void)
{
  ArenaCudaContext *context;

  g_unsetenv ("ARENA_CUDART");
  context = arena_cuda_context_get_default (NULL);
  g_assert_nonnull (context);
  g_assert_cmpuint (arena_cuda_context_get_runtime_version (context), ==, 13000);
  g_assert_cmpuint (scenario_count ("cudaGetDeviceCount"), ==, 1);
}

static void
test_missing_symbol (void)
{
  g_setenv ("ARENA_CUDART", "libm.so.6", TRUE);
  assert_refused (ARENA_CUDA_ERROR_UNAVAILABLE, "has no cudaRuntimeGetVersion", "install the CUDA runtime");
}

/* One without memory pools pins all the same. */
static void
test_missing_optional_symbol (void)
{
  ArenaCudaContext *context;
  ArenaEnds ends;

  g_setenv ("ARENA_CUDART", g_getenv ("ARENA_TEST_OLD_CUDART"), TRUE);
  context = arena_cuda_context_get_default (NULL);
  g_assert_nonnull (context);
  g_assert_false (context->has_pools);
  scenario_open_pool (&ends, 2);
  g_assert_cmpuint (arena_cuda_context_get_n_registrations (context), ==, 2);
  scenario_close (&ends);
}

static void
test_no_device (void)
{
  arena_fake_set_devices (0);
  g_assert_true (arena_cuda_context_is_supported ()); /* as far as that can be said without a look */
  assert_refused (ARENA_CUDA_ERROR_NO_DEVICE, "cudaGetDeviceCount", "CUDA_VISIBLE_DEVICES");
  assert_refused (ARENA_CUDA_ERROR_NO_DEVICE, "cudaErrorNoDevice (100)", "CUDA_VISIBLE_DEVICES");
}

static void
test_override (void)
{
  g_setenv ("ARENA_CUDART", "/tmp/libevil.so", TRUE);
  g_assert_cmpstr (arena_cuda_runtime_get_override (FALSE), ==, "/tmp/libevil.so");
  g_assert_null (arena_cuda_runtime_get_override (TRUE));
}

static void
test_unsupported (void)
{
  arena_fake_set_attr (0, CUDA_ATTRIBUTE_HOST_REGISTER, 0);
  assert_refused (ARENA_CUDA_ERROR_NOT_SUPPORTED, "Device 0 and its driver can't pin memory", "do without");
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 0);
}

static void
test_properties (void)
{
  ArenaCudaContext *context;
  g_autofree char *path = NULL;
  gboolean page_locks;
  guint runtime, driver;
  int device;

  arena_fake_set_attr (0, CUDA_ATTRIBUTE_HOST_PAGE_TABLES, 1);
  context = arena_cuda_context_get_default (NULL);
  g_object_get (context, "device", &device, "runtime-version", &runtime, "driver-version", &driver, "library-path", &path,
                "page-locks", &page_locks, NULL);
  g_assert_cmpint (device, ==, 0);
  g_assert_cmpuint (runtime, ==, 13000);
  g_assert_cmpuint (driver, ==, 13000);
  g_assert_true (g_str_has_suffix (path, "libcudart.so.13"));
  g_assert_false (page_locks);
  g_assert_true (context == arena_cuda_context_get_for_device (0, NULL));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add_lasting ("/arena/cuda/scenario-01-no-library", test_no_library);
  scenario_add_lasting ("/arena/cuda/scenario-02-no-driver", test_no_driver);
  scenario_add_lasting ("/arena/cuda/scenario-03-stub", test_stub);
  scenario_add_lasting ("/arena/cuda/scenario-04-too-new-falls-back", test_too_new);
  scenario_add_lasting ("/arena/cuda/scenario-04-too-new-alone", test_too_new_alone);
  scenario_add ("/arena/cuda/scenario-04-loaded-comes-first", test_loaded_first);
  scenario_add_lasting ("/arena/cuda/scenario-05-missing-symbol", test_missing_symbol);
  scenario_add_lasting ("/arena/cuda/scenario-05-missing-optional-symbol", test_missing_optional_symbol);
  scenario_add_lasting ("/arena/cuda/scenario-06-no-device", test_no_device);
  scenario_add_lasting ("/arena/cuda/scenario-07-override-of-a-secure-process", test_override);
  scenario_add ("/arena/cuda/device-that-pins-nothing", test_unsupported);
  scenario_add ("/arena/cuda/context-properties", test_properties);
  return g_test_run ();
}
