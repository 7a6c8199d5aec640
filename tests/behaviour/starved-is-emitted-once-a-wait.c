/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 5.4: the signal comes once a wait, on the waiting thread; a handler that gives something back ends it. */

typedef struct
{
  ArenaUnit *kept[2];
  GThread   *thread;
  guint      n_emitted;
  guint      n_held;
  gboolean   give_back;
} Case;

static gboolean
on_starved (ArenaConsumer *consumer,
            guint          n_held,
            Case          *c)
{
  g_assert_true (g_thread_self () == c->thread);
  c->n_emitted++;
  c->n_held = n_held;
  if (!c->give_back)
    return FALSE;

  g_clear_object (&c->kept[0]);
  g_clear_object (&c->kept[1]);
  return TRUE;
}

static void
test_signal (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (8192, 2), 1);
  ArenaTestSeries series = { .n_units = 6, .size = 8192 };
  GThread *producer = arena_test_start_producer (consumer, arena_test_send_series, &series);
  Case c = { .thread = g_thread_self () };
  g_autoptr(GError) error = NULL;

  g_signal_connect (consumer, "starved", G_CALLBACK (on_starved), &c);
  for (guint i = 0; i < 2; i++)
    c.kept[i] = arena_test_next (consumer);

  /* Nobody gives anything back: told once, then waited for. */
  for (guint i = 1; i <= 2; i++)
    {
      g_assert_null (arena_consumer_next (consumer, 60000, NULL, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT);
      g_assert_cmpuint (c.n_emitted, ==, i);
      g_assert_cmpuint (c.n_held, ==, 2);
    }

  c.give_back = TRUE;
  arena_test_receive (consumer, 4, 8192);
  g_assert_cmpuint (c.n_emitted, ==, 3);
  arena_test_assert_end (consumer);
  arena_test_close (consumer, producer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_log_capture ();
  arena_test_add ("/arena/boundary/starved/signal", test_signal);
  return g_test_run ();
}
