/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include "base/arena-error.h"
#include "cuda/arena-transfer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks, spawns, exits and other users of CUDA in the same process. */

static void
assert_forked (GError *error)
{
  g_autoptr(GError) owned = error;

  arena_test_assert_error (owned, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_FORKED, "had initialised CUDA", "use spawn");
}

static int
use_in_child (gpointer data)
{
  ArenaEnds *inherited = data;
  guint8 *memory = scenario_get_segment (inherited, 0);
  ArenaCudaContext *context = arena_cuda_context_get_for_device (0, NULL);
  g_autoptr(GError) error = NULL;
  unsigned char state;
  ArenaEnds ends;

  g_assert_null (context);
  g_assert_false (arena_cuda_context_is_supported ());
  arena_cuda_context_get_default (&error);
  assert_forked (g_steal_pointer (&error));
  g_assert_false (scenario_open (&ends, scenario_pool_new (1, NULL, 0), &error));
  assert_forked (g_steal_pointer (&error));
  arena_ends_clear (&ends);

  /* The pin is the parent's; this copy of the memory may go. */
  g_assert_false (arena_backend_close (inherited->backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
  arena_ends_clear (inherited);
  g_assert_cmpint (mincore (memory, SCENARIO_PAGE, &state), !=, 0);
  return 0;
}

/* F47 */
static void
test_fork_after (void)
{
  ArenaEnds ends;

  scenario_open_pool (&ends, 2);
  arena_test_assert_child (use_in_child, &ends);
  g_assert_cmpuint (arena_fake_child_calls (), ==, 0);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  scenario_close (&ends);
}

/* Somebody else has initialised it, which only CUDA can tell. */
static int
open_in_child (gpointer data)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  g_assert_false (scenario_open (&ends, scenario_pool_new (1, NULL, 0), &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_FORKED, "cudaErrorInitializationError (3)",
                           "use spawn");
  arena_ends_clear (&ends);
  return 0;
}

static void
test_fork_after_others (void)
{
  int count;

  g_assert_cmpint (cudaGetDeviceCount (&count), ==, 0);
  arena_test_assert_child (open_in_child, NULL);
}

static int
pin_in_child (gpointer data)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  g_assert_true (scenario_open (&ends, data, &error));
  g_assert_no_error (error);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  scenario_close (&ends);
  return 0;
}

/* Made here and opened there; asking whether CUDA is there doesn't count as using it. */
static void
test_fork_before (void)
{
  g_autoptr(ArenaBackend) pool = scenario_pool_new (2, NULL, 0);

  g_assert_true (arena_cuda_context_is_supported ());
  arena_test_assert_child (pin_in_child, pool);
}

/* The mapping is older than the process that pins it. */
static int
finalize_in_child (gpointer data)
{
  ArenaEnds ends;

  g_assert_true (scenario_open (&ends, data, NULL));
  arena_ends_clear (&ends);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);
  g_assert_nonnull (arena_cuda_context_get_default (NULL));
  scenario_assert_pinned (0, 0);
  g_assert_cmpuint (arena_fake_violations (NULL), ==, 0);
  return 0;
}

static void
test_fork_before_finalize (void)
{
  g_autoptr(ArenaBackend) pool = scenario_pool_new (2, NULL, 0);

  arena_test_assert_child (finalize_in_child, pool);
}

/* Without GSubprocess, whose thread ThreadSanitizer doesn't understand. */
typedef struct
{
  const char *end;
  char       *folder;
  char       *log;
  int         output[2];
  pid_t       pid;
} Spawned;

static int
execute (gpointer data)
{
  Spawned *self = data;
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "cuda", "scenario-consumer", NULL);

  g_setenv ("ARENA_FAKE_LOG", self->log, TRUE);
  dup2 (self->output[1], STDOUT_FILENO);
  execl (program, program, self->end, NULL);
  return 127;
}

static void
spawn (Spawned    *self,
       const char *end)
{
  self->end = end;
  self->folder = arena_test_temp_dir_new ();
  self->log = g_build_filename (self->folder, "log", NULL);
  g_assert_no_errno (pipe2 (self->output, O_CLOEXEC));
  self->pid = arena_test_start_child (execute, self);
  close (self->output[1]);
}

/* Behind what GLib's tests print. */
static void
wait_pinned (Spawned *self)
{
  g_autofree char *line = NULL;
  FILE *stream = fdopen (dup (self->output[0]), "r");
  size_t size = 0;

  do
    g_assert_cmpint (getline (&line, &size, stream), >, 0);
  while (strcmp (line, "pinned\n") != 0);
  fclose (stream);
}

static char *
finish (Spawned *self,
        int      status)
{
  char *log = NULL;

  g_assert_cmpint (arena_test_wait_child (self->pid), ==, status);
  close (self->output[0]);
  g_file_get_contents (self->log, &log, NULL, NULL);
  g_free (self->log);
  arena_test_temp_dir_free (self->folder);
  return log;
}

static guint
count_lines (const char *log,
             const char *text)
{
  guint n = 0;

  for (const char *at = log; (at = strstr (at, text)) != NULL; at++)
    n++;
  return n;
}

static void
test_spawned (void)
{
  g_autofree char *log = NULL;
  Spawned spawned;

  spawn (&spawned, "close");
  wait_pinned (&spawned);
  log = finish (&spawned, 0);
  g_assert_cmpuint (count_lines (log, " cudaHostRegister "), ==, 3);
  g_assert_cmpuint (count_lines (log, " cudaHostUnregister "), ==, 3);
  g_assert_null (strstr (log, "violations"));
}

static void
test_killed (void)
{
  Spawned spawned;
  char *log;

  for (guint i = 0; i < 2; i++)
    {
      spawn (&spawned, "wait");
      wait_pinned (&spawned);
      g_assert_no_errno (kill (spawned.pid, SIGKILL));
      g_free (finish (&spawned, SIGKILL));
    }
  spawn (&spawned, "close");
  log = finish (&spawned, 0);
  g_assert_cmpuint (count_lines (log, " cudaHostUnregister "), ==, 3);
  g_free (log);
}

/* The kernel takes everything back; nobody asks CUDA for anything once it has begun to end. */
static void
test_exit (void)
{
  g_autofree char *log = NULL;
  Spawned spawned;

  spawn (&spawned, "exit");
  log = finish (&spawned, 0);
  g_assert_cmpuint (count_lines (log, " cudaHostRegister "), ==, 3);
  g_assert_cmpuint (count_lines (log, " cudaHostUnregister "), ==, 0);
  g_assert_null (strstr (log, "result=4\n"));
}

/* One reader in an arena's life: a second one finds the memory pinned, and pins nothing. */
static void
test_two_consumers (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds first, second;

  scenario_open_pool (&first, 2);
  g_assert_null (arena_backend_open_reader (first.backend, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
  scenario_assert_pinned (2, 2 * SCENARIO_PAGE);

  scenario_open_pool (&second, 3);
  scenario_assert_pinned (5, 5 * SCENARIO_PAGE);
  scenario_close (&first);
  scenario_assert_pinned (3, 3 * SCENARIO_PAGE);
  scenario_close (&second);
}

static void
test_foreign_error (void)
{
  ArenaEnds ends;

  g_assert_cmpint (cudaSetDevice (99), ==, CUDA_INVALID_DEVICE);
  scenario_open_pool (&ends, 2);
  scenario_close (&ends);
  g_assert_cmpint (cudaGetLastError (), ==, CUDA_INVALID_DEVICE);
}

static void
test_own_error (void)
{
  ArenaEnds ends;

  arena_fake_inject ("cudaHostRegister", 2, 1, CUDA_INVALID_VALUE, false);
  arena_fake_inject ("cudaHostUnregister", 1, 1, CUDA_INVALID_VALUE, false);
  g_assert_false (scenario_open (&ends, scenario_pool_new (2, NULL, 0), NULL));
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);
  scenario_close (&ends);
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);
}

/* What somebody else's kernel did shows in our call, and everything after it fails. */
static void
test_foreign_launch (void)
{
  g_autoptr(GError) error = NULL;
  ArenaEnds ends;

  arena_fake_inject ("cudaHostRegister", 2, 1, CUDA_ILLEGAL_ADDRESS, true);
  g_assert_false (scenario_open (&ends, scenario_pool_new (2, NULL, 0), &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_CONTEXT_LOST, "cudaHostRegister: segment 1",
                           "cudaErrorIllegalAddress (700)", "; and then cudaHostUnregister: segment 0");
  arena_ends_clear (&ends);
  g_assert_cmpuint (scenario_count_unmapped (), ==, 0);
}

/* It shows where we wait, too: the transfer has failed, and what it read is known to be free. */
static void
test_foreign_launch_at_sync (void)
{
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (arena_cuda_context_get_default (NULL));
  g_autoptr(GError) error = NULL;
  ArenaSent sent;
  GBytes *view;
  ArenaEnds ends;

  scenario_open_pool (&ends, 1);
  sent = arena_ends_send (&ends, SCENARIO_PAGE, 9);
  view = arena_ends_take (&ends, &sent);
  arena_transfer_add (transfer, view, NULL);
  g_bytes_unref (view);
  arena_fake_inject_async (NULL, CUDA_INVALID_RESOURCE_HANDLE);
  g_assert_null (arena_transfer_run (transfer, NULL, &error));
  arena_test_assert_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "cudaStreamSynchronize",
                           "cudaErrorInvalidResourceHandle (400)", "device 0");
  g_assert_cmpint (cudaPeekAtLastError (), ==, 0);
  scenario_close (&ends);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/scenario-60-foreign-error-survives", test_foreign_error);
  scenario_add ("/arena/cuda/scenario-60-own-error-is-taken-away", test_own_error);
  scenario_add_lasting ("/arena/cuda/scenario-61-foreign-launch", test_foreign_launch);
  scenario_add ("/arena/cuda/scenario-61-foreign-launch-at-our-sync", test_foreign_launch_at_sync);
  scenario_add ("/arena/cuda/scenario-62-fork-after", test_fork_after);
  scenario_add ("/arena/cuda/scenario-62-fork-after-others", test_fork_after_others);
  scenario_add ("/arena/cuda/scenario-63-fork-before", test_fork_before);
  scenario_add ("/arena/cuda/scenario-63-finalize-in-a-child", test_fork_before_finalize);
  scenario_add_lasting ("/arena/cuda/scenario-64-spawned", test_spawned);
  scenario_add_lasting ("/arena/cuda/scenario-65-killed", test_killed);
  scenario_add_lasting ("/arena/cuda/scenario-66-exit-with-live-pins", test_exit);
  scenario_add ("/arena/cuda/scenario-67-two-consumers", test_two_consumers);
  return g_test_run ();
}
