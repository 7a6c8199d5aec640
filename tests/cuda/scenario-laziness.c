/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include "arena-boundary.h"

#include <string.h>

/* Who touches CUDA, and on which device. */

static guint
count_calls (void)
{
  return (guint) arena_fake_log (0, NULL);
}

static void
assert_no_runtime (gint64 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/maps", pid);
  g_autofree char *maps = NULL;

  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  g_assert_null (strstr (maps, "libcudart"));
}

/* F46: making and writing a pinned arena, and all of an unpinned one. */
static void
test_lazy (void)
{
  g_autoptr(ArenaBackend) pinned = scenario_pool_new (2, NULL, 0);
  g_autoptr(ArenaWriter) writer = arena_backend_open_writer (pinned, NULL);
  ArenaBackend *const unpinned[] = { arena_test_pool_new (SCENARIO_PAGE, 2), arena_test_ring_new (SCENARIO_PAGE) };
  ArenaEnds ends;

  g_assert_nonnull (writer);
  for (guint i = 0; i < G_N_ELEMENTS (unpinned); i++)
    {
      ArenaSent sent;

      g_assert_true (scenario_open (&ends, unpinned[i], NULL));
      sent = arena_ends_send (&ends, 2000, i);
      arena_ends_pass (&ends, &sent);
      scenario_close (&ends);
    }
  g_assert_cmpuint (count_calls (), ==, 0);
}

/* F40 */
static void
test_producer (void)
{
  ArenaWorker *worker = arena_test_worker_new (scenario_pool_new (2, NULL, 0), 1, "units=3", "size=4096", NULL);
  ArenaConsumer *consumer = ARENA_CONSUMER (worker);

  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  arena_test_receive (consumer, 3, 4096);
  assert_no_runtime (arena_worker_get_pid (worker));
  arena_test_close (consumer, NULL);
}

static void
assert_device (const char *rank,
               int         device)
{
  if (rank != NULL)
    g_setenv ("LOCAL_RANK", rank, TRUE);
  else
    g_unsetenv ("LOCAL_RANK");
  g_assert_cmpint (arena_cuda_context_get_device (arena_cuda_context_get_default (NULL)), ==, device);
}

/* F46 */
static void
test_rank (void)
{
  const struct { const char *rank, *text; } bad[] = {
    { "2", "LOCAL_RANK is 2 and there are 2 devices" },
    { "-1", "LOCAL_RANK is \"-1\"" },
    { "x", "LOCAL_RANK is \"x\"" },
  };

  arena_fake_set_devices (2);
  assert_device (NULL, 0);
  assert_device ("1", 1);
  assert_device ("0", 0);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr(GError) error = NULL;
      ArenaEnds ends;

      g_setenv ("LOCAL_RANK", bad[i].rank, TRUE);
      g_assert_false (scenario_open (&ends, scenario_pool_new (1, NULL, 0), &error));
      arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_BAD_RANK, bad[i].text, "correct LOCAL_RANK");
      arena_ends_clear (&ends);
    }
  g_unsetenv ("LOCAL_RANK");
}

static int
get_current_device (void)
{
  int device = -1;

  g_assert_cmpint (cudaGetDevice (&device), ==, 0);
  return device;
}

static void
test_current_device (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  arena_fake_set_devices (3);
  g_setenv ("LOCAL_RANK", "1", TRUE);
  g_assert_cmpint (cudaSetDevice (2), ==, 0);
  g_assert_nonnull (arena_cuda_context_get_for_device (0, NULL));
  g_assert_cmpint (get_current_device (), ==, 2);
  scenario_open_pool (&ends, 2);
  g_assert_cmpint (get_current_device (), ==, 2);
  g_assert_cmpint (scenario_get_call ("cudaHostRegister", 0).device, ==, 1);
  arena_fake_inject ("cudaHostUnregister", 1, 2, CUDA_INVALID_VALUE, false);
  g_assert_false (arena_backend_close (ends.backend, &error));
  g_assert_cmpint (get_current_device (), ==, 2);
  scenario_close (&ends);
  g_assert_cmpint (get_current_device (), ==, 2);
  g_assert_cmpint (scenario_get_call ("cudaHostUnregister", 2).device, ==, 1);
}

static gpointer
open_on_thread (gpointer data)
{
  scenario_open_pool (data, 2);
  g_assert_cmpint (get_current_device (), ==, 0);
  return NULL;
}

/* Which thread opens and which one closes makes no difference to where it happens. */
static void
test_thread (void)
{
  ArenaEnds ends;

  arena_fake_set_devices (2);
  g_setenv ("LOCAL_RANK", "1", TRUE);
  g_thread_join (g_thread_new ("opener", open_on_thread, &ends));
  g_assert_cmpint (scenario_get_call ("cudaHostRegister", 1).device, ==, 1);
  scenario_close (&ends);
  g_assert_cmpint (scenario_get_call ("cudaHostUnregister", 1).device, ==, 1);
}

static gpointer
get_on_thread (gpointer data)
{
  return arena_cuda_context_get_for_device (GPOINTER_TO_INT (data) % 2, NULL);
}

/* All threads get the same object for a device, however they race for it. */
static void
test_one_context (void)
{
  GThread *threads[8];
  gpointer contexts[8];

  arena_fake_set_devices (2);
  for (int i = 0; i < 8; i++)
    threads[i] = g_thread_new ("getter", get_on_thread, GINT_TO_POINTER (i));
  for (guint i = 0; i < 8; i++)
    {
      contexts[i] = g_thread_join (threads[i]);
      g_assert_nonnull (contexts[i]);
      g_assert_true (contexts[i] == contexts[i % 2]);
    }
  g_assert_true (contexts[0] != contexts[1]);
}

int
main (int    argc,
      char **argv)
{
  g_unsetenv ("LOCAL_RANK");
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/scenario-09-nothing-touches-cuda", test_lazy);
  scenario_add ("/arena/cuda/scenario-09-producer-opens-nothing", test_producer);
  scenario_add ("/arena/cuda/scenario-10-local-rank", test_rank);
  scenario_add ("/arena/cuda/scenario-11-current-device-is-restored", test_current_device);
  scenario_add ("/arena/cuda/scenario-12-another-thread", test_thread);
  scenario_add ("/arena/cuda/context-is-one-for-all-threads", test_one_context);
  return g_test_run ();
}
