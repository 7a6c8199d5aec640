/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error.h"
#include "cuda/arena-cuda-error-private.h"

#include <string.h>

static void
test_quark (void)
{
  g_assert_cmpstr (g_quark_to_string (ARENA_CUDA_ERROR), ==, "arena-cuda-error-quark");
  g_assert_cmpuint (ARENA_CUDA_ERROR, !=, ARENA_ERROR);
}

/* Applications compiled before must still mean the same. */
static void
test_values (void)
{
  const ArenaCudaError in_order[] = {
    ARENA_CUDA_ERROR_UNAVAILABLE, ARENA_CUDA_ERROR_NO_DRIVER, ARENA_CUDA_ERROR_NO_DEVICE, ARENA_CUDA_ERROR_BAD_RANK,
    ARENA_CUDA_ERROR_FORKED, ARENA_CUDA_ERROR_NOT_SUPPORTED, ARENA_CUDA_ERROR_NO_MEMORY,
    ARENA_CUDA_ERROR_ALREADY_REGISTERED, ARENA_CUDA_ERROR_REGISTER, ARENA_CUDA_ERROR_UNREGISTER, ARENA_CUDA_ERROR_COPY,
    ARENA_CUDA_ERROR_QUARANTINED, ARENA_CUDA_ERROR_CONTEXT_LOST, ARENA_CUDA_ERROR_UNLOADING,
  };

  for (guint i = 0; i < G_N_ELEMENTS (in_order); i++)
    {
      g_assert_cmpuint (in_order[i], ==, i);
      g_assert_cmpuint (strlen (arena_cuda_error_get_advice (in_order[i])), >, 10);
    }
}

static void
test_statuses (void)
{
  const struct { int status; ArenaCudaError code; } rows[] = {
    { 1, ARENA_CUDA_ERROR_REGISTER },
    { 2, ARENA_CUDA_ERROR_NO_MEMORY },
    { 3, ARENA_CUDA_ERROR_FORKED },
    { 4, ARENA_CUDA_ERROR_UNLOADING },
    { 34, ARENA_CUDA_ERROR_NO_DRIVER },
    { 35, ARENA_CUDA_ERROR_NO_DRIVER },
    { 46, ARENA_CUDA_ERROR_NO_DEVICE },
    { 100, ARENA_CUDA_ERROR_NO_DEVICE },
    { 101, ARENA_CUDA_ERROR_NO_DEVICE },
    { 201, ARENA_CUDA_ERROR_REGISTER },
    { 214, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 400, ARENA_CUDA_ERROR_REGISTER },
    { 700, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 702, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 709, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 710, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 712, ARENA_CUDA_ERROR_ALREADY_REGISTERED },
    { 713, ARENA_CUDA_ERROR_REGISTER },
    { 714, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 720, ARENA_CUDA_ERROR_CONTEXT_LOST },
    { 801, ARENA_CUDA_ERROR_NOT_SUPPORTED },
    { 900, ARENA_CUDA_ERROR_REGISTER },
    { 999, ARENA_CUDA_ERROR_CONTEXT_LOST },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_assert_cmpuint (arena_cuda_error_from_status (rows[i].status, ARENA_CUDA_ERROR_REGISTER), ==, rows[i].code);
      g_assert_cmpint (arena_cuda_error_is_sticky (rows[i].status), ==, rows[i].code == ARENA_CUDA_ERROR_CONTEXT_LOST);
    }
}

/* The first error stays what it is. */
static void
test_append (void)
{
  g_autoptr(GError) error = NULL;

  arena_cuda_error_append (&error, NULL);
  g_assert_no_error (error);
  arena_cuda_error_append (&error, g_error_new (ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_REGISTER, "one"));
  g_assert_cmpstr (error->message, ==, "one");
  arena_cuda_error_append (&error, g_error_new (ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, "two"));
  g_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_REGISTER);
  g_assert_cmpstr (error->message, ==, "one; and then two");
  arena_cuda_error_append (NULL, g_error_new (ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER, "three"));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-error/quark", test_quark);
  arena_test_add ("/arena/cuda-error/values-do-not-move", test_values);
  arena_test_add ("/arena/cuda-error/statuses", test_statuses);
  arena_test_add ("/arena/cuda-error/a-second-failure-is-appended", test_append);
  return g_test_run ();
}
