/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A handler of "starved" may do what any code may, and still say FALSE: the wait looks again, and the consumer lives on to
 * the end of the call. */

typedef struct
{
  ArenaConsumer *consumer;
  ArenaUnit     *kept[2];
  GThread       *producer;
  guint          n_emitted;
} Case;

static void
set_up (Case            *c,
        ArenaTestSeries *series,
        gboolean (*handler) (ArenaConsumer *, guint, Case *))
{
  *c = (Case) { .consumer = arena_test_consumer_new (arena_test_pool_new (8192, 2), 1) };
  c->producer = arena_test_start_producer (c->consumer, arena_test_send_series, series);
  g_signal_connect (c->consumer, "starved", G_CALLBACK (handler), c);
  arena_consumer_set_starve_timeout (c->consumer, 0);
  for (guint i = 0; i < 2; i++)
    c->kept[i] = arena_test_next (c->consumer);
}

static void
drop_kept (Case *c)
{
  for (guint i = 0; i < 2; i++)
    g_clear_object (&c->kept[i]);
}

static gboolean
on_starved_drop (ArenaConsumer *consumer,
                 guint          n_held,
                 Case          *c)
{
  c->n_emitted++;
  g_object_unref (c->consumer);
  return FALSE;
}

/* The call ends as if nothing had happened, and with it the consumer. */
static void
test_drops_the_consumer (void)
{
  ArenaTestSeries series = { .n_units = 6, .size = 8192 };
  g_autoptr(GError) error = NULL;
  Case c;

  set_up (&c, &series, on_starved_drop);
  g_object_add_weak_pointer (G_OBJECT (c.consumer), (gpointer *) &c.consumer);
  g_assert_null (arena_consumer_next (c.consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Units 0, 1");
  g_assert_cmpuint (c.n_emitted, ==, 1);
  g_assert_null (c.consumer);

  g_thread_join (c.producer);
  for (guint i = 0; i < 2; i++)
    arena_test_assert_unit (c.kept[i], 8192);
  drop_kept (&c);
}

static gboolean
on_starved_close (ArenaConsumer *consumer,
                  guint          n_held,
                  Case          *c)
{
  c->n_emitted++;
  g_assert_true (arena_consumer_close (consumer, -1, NULL, NULL));
  return FALSE;
}

static void
test_closes (void)
{
  ArenaTestSeries series = { .n_units = 6, .size = 8192 };
  g_autoptr(GError) error = NULL;
  Case c;

  set_up (&c, &series, on_starved_close);
  g_assert_null (arena_consumer_next (c.consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_cmpuint (c.n_emitted, ==, 1);
  arena_test_close (c.consumer, c.producer);
  drop_kept (&c);
}

static gboolean
on_starved_free (ArenaConsumer *consumer,
                 guint          n_held,
                 Case          *c)
{
  c->n_emitted++;
  drop_kept (c);
  return FALSE;
}

static void
test_frees_and_denies_it (void)
{
  ArenaTestSeries series = { .n_units = 6, .size = 8192 };
  Case c;

  set_up (&c, &series, on_starved_free);
  arena_test_receive (c.consumer, 4, 8192);
  g_assert_cmpuint (c.n_emitted, ==, 1);
  arena_test_assert_end (c.consumer);
  arena_test_close (c.consumer, c.producer);
}

static gboolean
on_starved_next (ArenaConsumer *consumer,
                 guint          n_held,
                 Case          *c)
{
  g_autoptr(GError) error = NULL;

  c->n_emitted++;
  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "wait");
  return FALSE;
}

static void
test_waits (void)
{
  ArenaTestSeries series = { .n_units = 6, .size = 8192 };
  g_autoptr(GError) error = NULL;
  Case c;

  set_up (&c, &series, on_starved_next);
  g_assert_null (arena_consumer_next (c.consumer, 10 * G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY, "Units 0, 1");
  g_assert_cmpuint (c.n_emitted, ==, 1);
  drop_kept (&c);
  arena_test_receive (c.consumer, 4, 8192);
  arena_test_assert_end (c.consumer);
  arena_test_close (c.consumer, c.producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/boundary/starved/handler/drops-the-consumer", test_drops_the_consumer);
  arena_test_add ("/arena/boundary/starved/handler/closes", test_closes);
  arena_test_add ("/arena/boundary/starved/handler/frees-and-denies-it", test_frees_and_denies_it);
  arena_test_add ("/arena/boundary/starved/handler/waits", test_waits);
  return g_test_run ();
}
