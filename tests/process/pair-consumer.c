/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-pair.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The consumer of a pair, see arena-pair.h: pair-consumer PLAN. Where the producer is the one to die, it must get every
 * unit that was published and then be told, again and again; what it keeps stays as it was, and it leaves with nothing
 * open. */

#define CHILD_FD 3

static ArenaTestPlan plan;
static ArenaTestProgress *progress;
static ArenaConsumer *consumer;
static pid_t child;
static GQueue held = G_QUEUE_INIT;

/* What the variables say goes for one of the two only. */
static char **
producer_environment (void)
{
  g_autofree char *log = g_build_filename (g_getenv ("ARENA_TEST_PAIR_DIR"), "producer", NULL);
  const char *point = g_getenv ("ARENA_TEST_PRODUCER_KILL_POINT");
  char **environment = g_get_environ ();

  environment = g_environ_setenv (environment, "ARENA_KILL_POINT", point != NULL ? point : "", TRUE);
  return g_environ_setenv (environment, "ARENA_KILL_LOG", log, TRUE);
}

static void
spawn_by_hand (const char *const *argv,
               char             **environment)
{
  const int target_fd = CHILD_FD;
  g_auto (GStrv) env = g_environ_setenv (g_strdupv (environment), "ARENA_WORKER_FD", G_STRINGIFY (CHILD_FD), TRUE);
  g_autoptr (GError) error = NULL;
  int fd = arena_consumer_dup_worker_fd (consumer, &error);

  g_assert_no_error (error);
  g_spawn_async_with_pipes_and_fds (NULL, argv, (const char *const *) env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                    -1, STDOUT_FILENO, -1, &fd, &target_fd, 1, &child, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  close (fd);
}

static void
start (const char *program_dir,
       const char *plan_text)
{
  g_autofree char *program = g_build_filename (program_dir, "pair-producer", NULL);
  const char *const argv[] = { program, plan_text, NULL };
  g_auto (GStrv) environment = producer_environment ();
  gsize size = arena_test_plan_unit_size (&plan);
  ArenaOversize oversize = plan.spill ? ARENA_OVERSIZE_SPILL : ARENA_OVERSIZE_ERROR;
  g_autoptr (ArenaBackend) backend =
    plan.ring ? g_initable_new (ARENA_TYPE_RING, NULL, NULL, "capacity", (guint64) size * plan.room, "oversize", oversize,
                                NULL)
              : g_initable_new (ARENA_TYPE_POOL, NULL, NULL, "segment-size", (guint64) size, "count", plan.room, "reuse",
                                plan.any ? ARENA_REUSE_ANY : ARENA_REUSE_IN_ORDER, "read-only", (gboolean) plan.read_only,
                                "oversize", oversize, NULL);
  g_autoptr (GError) error = NULL;

  if (plan.bare)
    {
      consumer = arena_test_consumer_new (g_steal_pointer (&backend), plan.buffer_size);
      spawn_by_hand (argv, environment);
      return;
    }

  consumer = g_initable_new (ARENA_TYPE_WORKER, NULL, &error, "backend", backend, "argv", argv, "environ", environment,
                             "buffer-size", plan.buffer_size, NULL);
  g_assert_no_error (error);
}

static void
note_progress (void)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (consumer);
  gboolean running = priv->epoch_state == ARENA_EPOCH_RUNNING || priv->epoch_state == ARENA_EPOCH_STOPPING;

  atomic_store (&progress->taken, priv->next_unit);
  atomic_store (&progress->ends, priv->epoch - (running ? 1 : 0));
}

static ArenaUnit *
next (GError **error)
{
  ArenaUnit *unit;

  do
    unit = arena_consumer_next (consumer, arena_test_plan_timeout (&plan), NULL, error);
  while (unit == NULL && arena_test_plan_again (&plan, error));

  note_progress ();
  return unit;
}

static gboolean
stop (GError **error)
{
  gboolean stopped;

  do
    stopped = arena_consumer_stop (consumer, arena_test_plan_timeout (&plan), NULL, error);
  while (!stopped && arena_test_plan_again (&plan, error));

  note_progress ();
  return stopped;
}

/* Nothing may have changed while it was kept. */
static void
drop_oldest (void)
{
  g_autoptr (ArenaUnit) unit = g_queue_pop_head (&held);

  arena_test_plan_check_unit (&plan, unit);
}

static void
use (ArenaUnit *unit)
{
  ArenaConsumerPrivate *priv = arena_consumer_get_private (consumer);

  g_assert_cmpuint (arena_unit_get_sequence (unit), ==, priv->next_unit - 1);
  g_assert_cmpuint (arena_unit_get_epoch (unit), ==, priv->epoch);
  arena_test_plan_check_unit (&plan, unit);
  arena_test_plan_dawdle (&plan, ARENA_TEST_CONSUMER);
  g_queue_push_tail (&held, unit);
  while (held.length > plan.held)
    drop_oldest ();
}

/* FALSE with error unless it has ended or is to be ended early. */
static gboolean
receive_iteration (guint    iteration,
                   GError **error)
{
  g_autoptr (GError) local_error = NULL;
  gboolean early = plan.stops && iteration % 2 == 0;

  for (guint n = 0; !early || n < 2; n++)
    {
      ArenaUnit *unit = next (&local_error);

      if (unit == NULL)
        {
          g_assert_true (local_error != NULL || n == plan.n_units);
          if (local_error == NULL)
            return TRUE;
          g_propagate_error (error, g_steal_pointer (&local_error));
          return FALSE;
        }

      use (unit);
    }

  /* A pool is used in order, and some segments behind those that are kept go back unread: the producer would wait for one
   * that is kept, and this side for the producer. */
  while (held.length > 0)
    drop_oldest ();

  /* The other way is that the next start ends it. */
  return iteration % 4 == 0 || stop (error);
}

static void
assert_gone (GError **error)
{
  if (atomic_load (&progress->gone_at[ARENA_TEST_CONSUMER]) == 0)
    atomic_store (&progress->gone_at[ARENA_TEST_CONSUMER], g_get_monotonic_time ());

  g_assert_true (arena_test_plan_may_die (&plan, ARENA_TEST_PRODUCER));
  arena_test_assert_error (*error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, plan.bare ? "" : "signal 9");
  *error = NULL;
}

static void
assert_still_gone (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  assert_gone (&error);
  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  assert_gone (&error);
  g_assert_false (arena_consumer_start (consumer, &error));
  assert_gone (&error);
}

static void
run (void)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 1; plan.n_iterations == 0 || i <= plan.n_iterations; i++)
    if ((i > 1 && !arena_consumer_start (consumer, &error)) || !receive_iteration (i, &error))
      break;

  if (error == NULL)
    {
      g_assert_cmpuint (plan.n_iterations, !=, 0);
      return;
    }

  assert_gone (&error);
  assert_still_gone ();
}

static void
assert_ended (int status)
{
  if (arena_test_plan_may_die (&plan, ARENA_TEST_PRODUCER))
    g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  else
    g_assert_cmpint (status, ==, 0);
}

/* What is kept outlives the consumer, whatever became of the producer. */
static void
end (void)
{
  g_autoptr (GError) error = NULL;

  arena_consumer_close (consumer, -1, NULL, &error);
  g_assert_no_error (error);
  if (!plan.bare)
    assert_ended (arena_worker_get_exit_status (ARENA_WORKER (consumer)));
  g_assert_finalize_object (consumer);

  if (plan.bare)
    assert_ended (arena_test_wait_child (child));
  while (held.length > 0)
    drop_oldest ();
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *program_dir = g_path_get_dirname (argv[0]);
  ArenaTestResources resources;

  g_assert_cmpint (argc, ==, 2);
  arena_test_plan_from_text (&plan, argv[1]);
  progress = arena_test_pair_enter (&plan, ARENA_TEST_CONSUMER);
  arena_test_resources_begin (&resources);
  start (program_dir, argv[1]);
  run ();
  end ();
  arena_test_resources_end (&resources);
  return 0;
}
