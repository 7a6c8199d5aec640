/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include "base/arena-error.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* What a pinned pool registers, and what becomes of it when that fails. */

/* F39, F40: over 1000 units, and nothing is allocated for any of them. */
static void
test_each_segment_once (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 4);
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      ArenaFakeEntry call = scenario_get_call ("cudaHostRegister", i);

      g_assert_cmpuint (call.ptr, ==, (guintptr) scenario_get_segment (&ends, i));
      g_assert_cmpuint (call.len, ==, SCENARIO_PAGE);
      g_assert_cmpuint (call.flags, ==, CUDA_HOST_PORTABLE);
      g_assert_cmpint (call.result, ==, 0);
    }
  for (guint i = 0; i < 1000; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, SCENARIO_PAGE, i);

      arena_ends_pass (&ends, &sent);
    }
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 4);
  g_assert_cmpuint (scenario_count ("cudaHostAlloc"), ==, 0);
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 0);
  scenario_close (&ends);
}

/* The producer's and the consumer's words in shared memory are nobody's to copy. */
static void
test_control_memory (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 3);
  g_assert_false (arena_fake_is_pinned (ends.storage->channel->cc, 1));
  g_assert_false (arena_fake_is_pinned (ends.storage->channel->cp, 1));
  scenario_assert_pinned (3, 3 * SCENARIO_PAGE);
  scenario_close (&ends);
}

/* F56: an error, and never pageable memory in its place. */
static void
test_rolls_back (void)
{
  ArenaBackend *pool = scenario_pool_new (4, NULL, 0);
  g_autoptr(GError) error = NULL;
  g_autofree char *segment = NULL;
  ArenaEnds ends;

  arena_fake_inject ("cudaHostRegister", 3, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (scenario_open (&ends, pool, &error));
  g_assert_null (ends.reader);
  segment = g_strdup_printf ("segment 2 of 4, 4096 bytes at 0x%lx",
                             (gulong) scenario_get_call ("cudaHostRegister", 2).ptr);
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_REGISTER, "cudaHostRegister", segment,
                           "cudaErrorInvalidValue (1)", "device 0", "do without pinning");
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 3);
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 2);
  g_assert_cmpuint (scenario_get_call ("cudaHostUnregister", 0).ptr, ==, scenario_get_call ("cudaHostRegister", 1).ptr);
  g_assert_cmpuint (scenario_get_call ("cudaHostUnregister", 1).ptr, ==, scenario_get_call ("cudaHostRegister", 0).ptr);
  scenario_assert_pinned (0, 0);
  arena_ends_clear (&ends);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 1);
}

/* The pool is as it was, and the reader may be opened again. */
static void
test_opens_later (void)
{
  ArenaBackend *pool = scenario_pool_new (2, NULL, 0);
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  arena_fake_inject ("cudaHostRegister", 2, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (scenario_open (&ends, pool, &error));
  g_clear_error (&error);
  g_object_ref (pool);
  arena_ends_clear (&ends);
  g_assert_true (scenario_open (&ends, pool, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  scenario_close (&ends);
}

static void
test_rollback_fails (void)
{
  ArenaBackend *pool = scenario_pool_new (3, NULL, 0);
  ArenaCudaContext *context = arena_cuda_context_get_default (NULL);
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  arena_fake_inject ("cudaHostRegister", 3, 1, CUDA_MEMORY_ALLOCATION, false);
  arena_fake_inject ("cudaHostUnregister", 1, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (scenario_open (&ends, pool, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "cudaHostRegister: segment 2",
                           "; and then cudaHostUnregister: segment 1", "cudaErrorInvalidValue (1)");
  scenario_assert_pinned (1, SCENARIO_PAGE);
  g_assert_cmpuint (arena_cuda_context_get_n_quarantined (context), ==, 1);
  g_assert_cmpuint (arena_cuda_context_get_quarantined_bytes (context), ==, SCENARIO_PAGE);

  /* Nobody has the pool any more, and its memory is still there. */
  arena_ends_clear (&ends);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 0);
  g_assert_true (arena_cuda_context_retry_quarantine (context, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 1);
  g_assert_cmpuint (arena_cuda_context_get_n_quarantined (context), ==, 0);
}

/* What could not be taken back is, before the pool is pinned anew. */
static void
test_opens_after_failed_rollback (void)
{
  ArenaBackend *pool = scenario_pool_new (3, NULL, 0);
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  arena_fake_inject ("cudaHostRegister", 3, 1, CUDA_INVALID_VALUE, false);
  arena_fake_inject ("cudaHostUnregister", 1, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (scenario_open (&ends, pool, &error));
  g_clear_error (&error);
  g_object_ref (pool);
  arena_ends_clear (&ends);
  g_assert_true (scenario_open (&ends, pool, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (3, 3 * SCENARIO_PAGE);
  arena_cuda_context_get_default (NULL); /* what is wanted isn't taken for left behind */
  scenario_assert_pinned (3, 3 * SCENARIO_PAGE);
  scenario_close (&ends);
}

static void
test_not_adopted (void)
{
  ArenaBackend *pool = scenario_pool_new (2, NULL, 0);
  guint8 *data = arena_mapping_get_data (arena_backend_peek_storage (pool)->data);
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  g_assert_cmpint (cudaHostRegister (data + SCENARIO_PAGE, SCENARIO_PAGE, CUDA_HOST_PORTABLE), ==, 0);
  g_assert_false (scenario_open (&ends, pool, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_ALREADY_REGISTERED, "cudaHostRegister: segment 1",
                           "cudaErrorHostMemoryAlreadyRegistered (712)", "device 0");
  scenario_assert_pinned (1, SCENARIO_PAGE); /* not ours */
  g_assert_cmpint (cudaHostUnregister (data + SCENARIO_PAGE), ==, 0);
  arena_ends_clear (&ends);
}

static void
test_pin_limit (void)
{
  ArenaBackend *pool = scenario_pool_new (4, NULL, 0);
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  arena_fake_pin_limit (3 * SCENARIO_PAGE);
  g_assert_false (scenario_open (&ends, pool, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_NO_MEMORY, "cudaHostRegister: segment 3 of 4",
                           "cudaErrorMemoryAllocation (2)", "WSL");
  scenario_assert_pinned (0, 0);
  arena_ends_clear (&ends);
}

static void
pass_through (gboolean pin)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *status = NULL;
  ArenaEnds ends;
  ArenaSent sent;

  scenario_open (&ends, g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", G_GUINT64_CONSTANT (1) << 20,
                                        "count", 4, "pin-memory", pin, NULL), &error);
  g_assert_no_error (error);
  sent = arena_ends_send (&ends, 1 << 20, 5);
  arena_ends_pass (&ends, &sent);
  g_assert_true (g_file_get_contents ("/proc/self/status", &status, NULL, NULL));
  g_assert_nonnull (strstr (status, "\nVmLck:\t       0 kB\n"));
  scenario_close (&ends);
}

/* C92: the memory is the driver's to lock, which asks for no limit of this process; nothing of ours does. */
static void
test_memlock (void)
{
  const struct rlimit limit = { 64 << 10, 64 << 10 };

  g_assert_no_errno (setrlimit (RLIMIT_MEMLOCK, &limit));
  pass_through (TRUE);
  pass_through (FALSE);
}

static gboolean
is_unmapped (guint8 *data,
             gsize   size)
{
  g_autofree unsigned char *states = g_malloc (size / SCENARIO_PAGE);

  return mincore (data, size, states) != 0;
}

/* The same addresses, after a proper close, are new to CUDA (C85). */
static void
test_address_reuse (void)
{
  guint8 *data;
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  data = scenario_get_segment (&ends, 0);
  scenario_close (&ends);
  g_assert_true (is_unmapped (data, 2 * SCENARIO_PAGE));

  /* The kernel gives the hole to the next mapping that fits. */
  for (guint i = 0; i < 99; i++)
    {
      scenario_open_pool (&ends, 2);
      scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
      scenario_close (&ends);
    }
  g_assert_cmpuint (scenario_count ("cudaHostRegister"), ==, 200);
  g_assert_cmpuint (scenario_count ("cudaHostUnregister"), ==, 200);
}

/* F50 */
static void
test_sparse (void)
{
  g_autoptr(ArenaStats) before = NULL;
  g_autoptr(ArenaStats) after = NULL;
  ArenaBackend *pool = scenario_pool_new (8, NULL, 0);
  ArenaEnds ends;

  before = arena_pool_dup_stats (ARENA_POOL (pool));
  g_assert_cmpuint (arena_stats_get_reserved_bytes (before), ==, 8 * SCENARIO_PAGE);
  g_assert_cmpuint (arena_stats_get_resident_bytes (before), <, 8 * SCENARIO_PAGE);
  g_assert_cmpuint (arena_stats_get_pinned_bytes (before), ==, 0);
  g_assert_true (scenario_open (&ends, pool, NULL));
  after = arena_pool_dup_stats (ARENA_POOL (pool));
  g_assert_cmpuint (arena_stats_get_resident_bytes (after), ==, 8 * SCENARIO_PAGE);
  g_assert_cmpuint (arena_stats_get_pinned_bytes (after), ==, 8 * SCENARIO_PAGE);
  scenario_close (&ends);
}

/* Another thread captures a graph: our calls neither fail nor break it, and this thread's mode is as it was. */
static void
test_capture (void)
{
  int mode = 1;
  ArenaEnds ends;

  g_assert_cmpint (cudaThreadExchangeStreamCaptureMode (&mode), ==, 0);
  arena_fake_set_capture (true);
  scenario_open_pool (&ends, 2);
  scenario_close (&ends);
  g_assert_false (arena_fake_capture_broken ());
  mode = 0;
  g_assert_cmpint (cudaThreadExchangeStreamCaptureMode (&mode), ==, 0);
  g_assert_cmpint (mode, ==, 1);
}

static void
test_capture_after_failure (void)
{
  ArenaBackend *pool = scenario_pool_new (2, NULL, 0);
  ArenaEnds ends;
  int mode = 1;

  g_assert_cmpint (cudaThreadExchangeStreamCaptureMode (&mode), ==, 0);
  arena_fake_inject ("cudaHostRegister", 2, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (scenario_open (&ends, pool, NULL));
  g_assert_cmpint (cudaThreadExchangeStreamCaptureMode (&mode), ==, 0);
  g_assert_cmpint (mode, ==, 1);
  arena_ends_clear (&ends);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/scenario-13-each-segment-once", test_each_segment_once);
  scenario_add ("/arena/cuda/scenario-14-control-memory-never", test_control_memory);
  scenario_add ("/arena/cuda/scenario-15-rolls-back-in-reverse", test_rolls_back);
  scenario_add ("/arena/cuda/scenario-15-opens-later", test_opens_later);
  scenario_add ("/arena/cuda/scenario-16-rollback-fails", test_rollback_fails);
  scenario_add ("/arena/cuda/scenario-16-opens-after-a-failed-rollback", test_opens_after_failed_rollback);
  scenario_add ("/arena/cuda/scenario-17-registered-by-others", test_not_adopted);
  scenario_add ("/arena/cuda/scenario-20-pin-limit", test_pin_limit);
  scenario_add ("/arena/cuda/memlock-limit", test_memlock);
  scenario_add ("/arena/cuda/scenario-22-sparse-becomes-resident", test_sparse);
  scenario_add ("/arena/cuda/scenario-23-capture-is-not-broken", test_capture);
  scenario_add ("/arena/cuda/scenario-23-capture-mode-after-failure", test_capture_after_failure);
  scenario_add ("/arena/cuda/scenario-35-addresses-are-used-again", test_address_reuse);
  return g_test_run ();
}
