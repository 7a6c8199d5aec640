/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "arena-pair.h"

/* The producer of a pair, see arena-pair.h: pair-producer PLAN. Where the consumer is the one to die, it must be told so,
 * again and again, and then leaves with nothing open. */

static ArenaTestPlan plan;
static ArenaTestProgress *progress;

static gboolean
wait_iteration (ArenaProducer *producer,
                GError       **error)
{
  gboolean began;

  do
    began = arena_producer_wait_iteration (producer, arena_test_plan_timeout (&plan), NULL, NULL, error);
  while (!began && arena_test_plan_again (&plan, error));

  return began;
}

static ArenaUnitBuilder *
begin_unit (ArenaProducer *producer,
            guint64        unit,
            GError       **error)
{
  /* Sometimes the storage is waited for here, sometimes by the first field. */
  gsize expected = arena_test_plan_n_fields (&plan, unit) > 1 && unit % 3 != 0 ? 10000 : 0;
  ArenaUnitBuilder *builder;

  do
    builder = arena_producer_begin_unit (producer, expected, arena_test_plan_timeout (&plan), NULL, error);
  while (builder == NULL && arena_test_plan_again (&plan, error));

  return builder;
}

static gboolean
append_fields (ArenaUnitBuilder *builder,
               guint64           unit,
               GError          **error)
{
  for (guint i = 0; i < arena_test_plan_n_fields (&plan, unit); i++)
    {
      gint index;

      do
        index = arena_test_plan_append (&plan, unit, i, builder, error);
      while (index < 0 && arena_test_plan_again (&plan, error));

      if (index < 0)
        return FALSE;
      g_assert_cmpint (index, ==, i);
    }

  return TRUE;
}

static gboolean
commit (ArenaUnitBuilder *builder,
        GError          **error)
{
  gboolean committed;

  atomic_store (&progress->committing, 1);
  committed = arena_unit_builder_commit (builder, error);
  if (committed)
    atomic_fetch_add (&progress->committed, 1);
  atomic_store (&progress->committing, 0);
  return committed;
}

static gboolean
send_unit (ArenaProducer *producer,
           GError       **error)
{
  guint64 unit = producer->unit;
  ArenaUnitBuilder *builder;

  g_assert_cmpuint (unit, ==, atomic_load (&progress->committed));
  arena_test_plan_dawdle (&plan, ARENA_TEST_PRODUCER);
  builder = begin_unit (producer, unit, error);
  if (builder == NULL)
    return FALSE;

  if (append_fields (builder, unit, error) && commit (builder, error))
    return TRUE;

  arena_unit_builder_abort (builder);
  return FALSE;
}

static gboolean
finish (ArenaProducer *producer,
        GError       **error)
{
  atomic_store (&progress->ending, 1);
  if (!arena_producer_finish_iteration (producer, error))
    return FALSE;

  atomic_fetch_add (&progress->ended, 1);
  atomic_store (&progress->ending, 0);
  return TRUE;
}

/* FALSE with error unless the iteration is over, by its number of units or by a stop. */
static gboolean
send_iteration (ArenaProducer *producer,
                GError       **error)
{
  g_autoptr (GError) local_error = NULL;

  for (guint i = 0; i < plan.n_units; i++)
    if (!send_unit (producer, &local_error))
      break;

  if (local_error == NULL)
    return finish (producer, error);

  if (!g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_CLOSED))
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  return finish (producer, error);
}

static void
assert_gone (GError **error)
{
  if (atomic_load (&progress->gone_at[ARENA_TEST_PRODUCER]) == 0)
    atomic_store (&progress->gone_at[ARENA_TEST_PRODUCER], g_get_monotonic_time ());

  g_assert_true (arena_test_plan_may_die (&plan, ARENA_TEST_CONSUMER));
  arena_test_assert_error (*error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  *error = NULL;
}

static void
assert_still_gone (ArenaProducer *producer)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      if (producer->running)
        {
          g_assert_null (arena_producer_begin_unit (producer, 0, i == 0 ? -1 : 0, NULL, &error));
          assert_gone (&error);
          g_assert_true (arena_producer_finish_iteration (producer, NULL));
        }

      g_assert_false (arena_producer_wait_iteration (producer, i == 0 ? -1 : 0, NULL, NULL, &error));
      assert_gone (&error);
    }
}

static void
run (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaProducer) producer = arena_producer_new_from_environment (&error);

  if (producer == NULL)
    {
      assert_gone (&error);
      return;
    }

  while (wait_iteration (producer, &error))
    if (!send_iteration (producer, &error))
      break;

  if (error == NULL)
    {
      g_assert_cmpuint (plan.n_iterations, !=, 0);
      g_assert_cmpuint (atomic_load (&producer->channel->cc->state) & ARENA_STATE_CLOSED, !=, 0);
      atomic_store (&progress->gone_at[ARENA_TEST_PRODUCER], g_get_monotonic_time ());
      return;
    }

  assert_gone (&error);
  assert_still_gone (producer);
}

int
main (int    argc,
      char **argv)
{
  ArenaTestResources resources;

  g_assert_cmpint (argc, ==, 2);
  arena_test_plan_from_text (&plan, argv[1]);
  progress = arena_test_pair_enter (&plan, ARENA_TEST_PRODUCER);
  arena_test_resources_begin (&resources);
  resources.n_fds--; /* the one that it was given */
  run ();
  arena_test_resources_end (&resources);
  return 0;
}
