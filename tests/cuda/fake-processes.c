/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "fake-cudart.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* The double in forked children, in programs that know it by its file only, and at exit. */

static int
call_in_child (gpointer data)
{
  void *pointer;

  return cudaMalloc (&pointer, 100);
}

static void
test_fork (void)
{
  arena_fake_reset ();
  g_assert_cmpint (cudaSetDevice (0), ==, 0);
  g_assert_cmpint (arena_test_run_child (call_in_child, NULL), ==, CUDA_INITIALIZATION_ERROR << 8);
  g_assert_cmpuint (arena_fake_child_calls (), ==, 1);
  g_assert_cmpint (cudaSetDevice (0), ==, 0);
}

static int
run_program (gpointer path)
{
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "cuda", "fake-program", NULL);

  g_setenv ("ARENA_FAKE_LOG", path, TRUE);
  g_setenv ("ARENA_FAKE_SCRIPT", "inject cudaMalloc 1 1 2 0", TRUE);
  execl (program, program, NULL);
  return 1;
}

static void
test_exit (void)
{
  char *folder = arena_test_temp_dir_new ();
  g_autofree char *path = g_build_filename (folder, "log", NULL);
  g_autofree char *log = NULL;

  arena_test_assert_child (run_program, path);
  g_assert_true (g_file_get_contents (path, &log, NULL, NULL));
  g_assert_nonnull (strstr (log, " cudaMalloc "));
  g_assert_nonnull (strstr (log, "result=2\n"));
  g_assert_nonnull (strstr (log, " cudaFree "));
  g_assert_nonnull (strstr (log, "violations 1:\ncudaFree: "));
  arena_test_temp_dir_free (folder);
}

static void
test_old_runtime (void)
{
  void *library = dlopen (g_getenv ("ARENA_TEST_OLD_CUDART"), RTLD_NOW | RTLD_LOCAL);
  int (*get_version) (int *);
  int version;

  g_assert_nonnull (library);
  *(void **) &get_version = dlsym (library, "cudaRuntimeGetVersion");
  g_assert_cmpint (get_version (&version), ==, 0);
  g_assert_cmpint (version, ==, 11000);
  g_assert_null (dlsym (library, "cudaMallocAsync"));
  g_assert_nonnull (dlvsym (library, "cudaMalloc", "libcudart.so.11.0"));
  g_assert_nonnull (dlvsym (RTLD_DEFAULT, "cudaMallocAsync", "libcudart.so.13"));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/fake/processes/forked-child-is-refused", test_fork);
  arena_test_add ("/fake/processes/log-at-exit", test_exit);
  arena_test_add ("/fake/processes/old-runtime", test_old_runtime);
  return g_test_run ();
}
