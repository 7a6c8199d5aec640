/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* What a consumer is made of, and what it says of itself. */

static void
test_new (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  ArenaConsumer *consumer = arena_test_consumer_new (g_object_ref (backend), 5);
  g_autoptr(ArenaBackend) got = NULL;

  g_object_get (consumer, "backend", &got, NULL);
  g_assert_true (got == backend);
  g_assert_cmpuint (arena_consumer_get_buffer_size (consumer), ==, 5);
  g_assert_cmpuint (arena_consumer_get_threshold (consumer), ==, 4096);
  g_assert_cmpuint (arena_consumer_get_envelope_size (consumer), ==, 16384);
  g_assert_cmpint (arena_consumer_get_starve_timeout (consumer), ==, -1);
  g_assert_null (arena_consumer_dup_remote_error (consumer));
  g_assert_finalize_object (consumer);
}

static void
assert_invalid (const char *property,
                guint       value)
{
  g_autoptr(ArenaBackend) backend = arena_test_pool_new (4096, 2);
  g_autoptr(GError) error = NULL;
  ArenaConsumer *consumer;

  g_assert_null (g_initable_new (ARENA_TYPE_CONSUMER, NULL, &error, "backend", backend, property, value, NULL));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);

  /* All or nothing (F141): the arena can still be handed over. */
  consumer = arena_test_consumer_new (g_object_ref (backend), 1);
  g_object_unref (consumer);
}

static void
test_limits (void)
{
  assert_invalid ("buffer-size", 0);
  assert_invalid ("buffer-size", 65537);
  assert_invalid ("envelope-size", 0);
  assert_invalid ("envelope-size", G_MAXUINT);
  assert_invalid ("threshold", G_MAXUINT);
}

static void
test_without_backend (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (g_initable_new (ARENA_TYPE_CONSUMER, NULL, &error, NULL));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "backend");
}

/* A backend of somebody else's. */
typedef GObject      Foreign;
typedef GObjectClass ForeignClass;

static GType foreign_get_type (void);

G_DEFINE_TYPE_WITH_CODE (Foreign, foreign, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE (ARENA_TYPE_BACKEND, NULL))

static void
foreign_class_init (ForeignClass *klass)
{
}

static void
foreign_init (Foreign *self)
{
}

static void
test_foreign_backend (void)
{
  g_autoptr(GObject) backend = g_object_new (foreign_get_type (), NULL);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_new ((ArenaBackend *) backend, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "Foreign");
}

static void
test_uninitialized_backend (void)
{
  const GType types[] = { ARENA_TYPE_POOL, ARENA_TYPE_RING };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr(ArenaBackend) backend = g_object_new (types[i], NULL);
      g_autoptr(GError) error = NULL;

      g_assert_null (arena_consumer_new (backend, 1, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, g_type_name (types[i]), "not initialised");
    }
}

static void
test_closed_backend (void)
{
  g_autoptr(ArenaBackend) backend = arena_test_ring_new (4096);
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_backend_close (backend, NULL));
  g_assert_null (arena_consumer_new (backend, 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

/* g_object_new() alone is silent in every binding; what follows must not crash. */
static void
test_uninitialized (void)
{
  ArenaConsumer *consumer = g_object_new (ARENA_TYPE_CONSUMER, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_consumer_start (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_false (arena_consumer_stop (consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  g_assert_cmpint (arena_consumer_dup_worker_fd (consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  arena_stats_free (arena_consumer_dup_stats (consumer));
  arena_consumer_set_exit_status (consumer, 0);
  g_assert_true (arena_consumer_close (consumer, -1, NULL, NULL));
  g_object_unref (consumer);
}

static void
count (guint *n)
{
  ++*n;
}

static void
test_starve_timeout (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (4096, 2), 1);
  guint n = 0;

  g_signal_connect_swapped (consumer, "notify::starve-timeout", G_CALLBACK (count), &n);
  arena_consumer_set_starve_timeout (consumer, 7);
  arena_consumer_set_starve_timeout (consumer, 7);
  g_assert_cmpint (arena_consumer_get_starve_timeout (consumer), ==, 7);
  g_assert_cmpuint (n, ==, 1);
  arena_consumer_set_starve_timeout (consumer, G_MININT64);
  g_assert_cmpint (arena_consumer_get_starve_timeout (consumer), ==, -1);
  g_object_set (consumer, "starve-timeout", (gint64) 3, NULL);
  g_assert_cmpint (arena_consumer_get_starve_timeout (consumer), ==, 3);
  g_assert_cmpuint (n, ==, 3);
  g_object_unref (consumer);
}

/* F162 */
static void
test_stats (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 3), 2);
  ArenaTestSeries series = { .n_units = 4, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  g_autoptr(ArenaStats) stats = NULL;
  ArenaUnit *unit;

  arena_test_receive (consumer, 3, 8192);
  unit = arena_test_next (consumer);
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_units (stats), ==, 4);
  g_assert_cmpuint (arena_stats_get_held_units (stats), ==, 1);
  g_assert_cmpuint (arena_stats_get_bytes (stats), >=, 4 * 8192);
  g_assert_cmpuint (arena_stats_get_reserved_bytes (stats), ==, 3 * 8192);
  g_object_unref (unit);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, producer);
}

/* Units that took no storage are units too. */
static void
test_stats_count_small_units (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 1), 2);
  ArenaTestSeries series = { .n_units = 4, .size = 10 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  g_autoptr(ArenaStats) stats = NULL;

  arena_test_receive (consumer, 4, 10);
  arena_test_assert_end (consumer);
  stats = arena_consumer_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_units (stats), ==, 4);
  g_assert_cmpuint (arena_stats_get_peak_occupancy (stats), ==, 0);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/consumer/new", test_new);
  arena_test_add ("/arena/consumer/limits", test_limits);
  arena_test_add ("/arena/consumer/without-backend", test_without_backend);
  arena_test_add ("/arena/consumer/foreign-backend", test_foreign_backend);
  arena_test_add ("/arena/consumer/uninitialized-backend", test_uninitialized_backend);
  arena_test_add ("/arena/consumer/closed-backend", test_closed_backend);
  arena_test_add ("/arena/consumer/uninitialized", test_uninitialized);
  arena_test_add ("/arena/consumer/starve-timeout", test_starve_timeout);
  arena_test_add ("/arena/consumer/stats", test_stats);
  arena_test_add ("/arena/consumer/stats-count-small-units", test_stats_count_small_units);
  return g_test_run ();
}
