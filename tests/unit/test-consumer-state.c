/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* F187: what a consumer says of itself: one notification for each change, then, once, that it has ended. */

#define SIZE 8192

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
  GString       *seen; /* a letter for each state that was notified; C and E: closed without and with an error */
} Fixture;

static void
on_state (ArenaConsumer *consumer,
          GParamSpec    *pspec G_GNUC_UNUSED,
          Fixture       *f)
{
  ArenaConsumerState state;

  g_object_get (consumer, "state", &state, NULL);
  g_assert_cmpint (state, ==, arena_consumer_get_state (consumer));
  g_string_append_c (f->seen, "irsefc"[state]);
}

static void
on_closed (ArenaConsumer *consumer,
           const GError  *error,
           Fixture       *f)
{
  ArenaConsumerState state = arena_consumer_get_state (consumer);

  g_assert_cmpint (state, ==, error != NULL ? ARENA_CONSUMER_STATE_FAILED : ARENA_CONSUMER_STATE_CLOSED);
  if (error != NULL)
    g_assert_true (g_error_matches (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE));
  g_string_append_c (f->seen, error != NULL ? 'E' : 'C');
}

static void
set_up (Fixture *f)
{
  *f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2), .seen = g_string_new ("") };
  g_signal_connect (f->consumer, "notify::state", G_CALLBACK (on_state), f);
  g_signal_connect (f->consumer, "closed", G_CALLBACK (on_closed), f);
  g_assert_cmpint (arena_consumer_get_state (f->consumer), ==, ARENA_CONSUMER_STATE_IDLE);
  f->producer = arena_test_producer_new (f->consumer);
}

static void
begin (Fixture *f)
{
  g_assert_true (arena_consumer_start (f->consumer, NULL));
  arena_test_wait_iteration (f->producer);
}

static void
tear_down (Fixture    *f,
           const char *seen)
{
  g_clear_object (&f->producer);
  g_assert_true (arena_consumer_close (f->consumer, -1, NULL, NULL));
  g_assert_true (arena_consumer_close (f->consumer, -1, NULL, NULL));
  g_assert_finalize_object (f->consumer);
  g_assert_cmpstr (f->seen->str, ==, seen);
  g_string_free (f->seen, TRUE);
}

static void
test_iterations (void)
{
  Fixture f;

  set_up (&f);
  begin (&f);
  g_assert_true (arena_test_send (f.producer, SIZE, 0, NULL));
  arena_test_receive (f.consumer, 1, SIZE);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_assert_end (f.consumer);
  arena_test_assert_end (f.consumer);
  begin (&f);
  tear_down (&f, "rercC");
}

static void
test_stop (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  begin (&f);
  g_assert_false (arena_consumer_stop (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  g_assert_true (arena_consumer_stop (f.consumer, -1, NULL, NULL));
  tear_down (&f, "rsecC");
}

/* The worker's failure ends the iteration only. */
static void
test_remote (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  begin (&f);
  g_assert_true (arena_producer_fail (f.producer, "Type", "text", NULL, -1, NULL));
  g_assert_null (arena_consumer_next (f.consumer, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_REMOTE);
  tear_down (&f, "recC");
}

/* Told once, with the reason; a close after it says nothing more but its state. */
static void
test_death (void)
{
  Fixture f;

  set_up (&f);
  begin (&f);
  g_clear_object (&f.producer);
  arena_test_assert_gone (f.consumer, "");
  arena_test_assert_gone (f.consumer, "");
  tear_down (&f, "rfEc");
}

static void
test_unused (void)
{
  Fixture f;

  set_up (&f);
  tear_down (&f, "cC");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/consumer/state/iterations", test_iterations);
  arena_test_add ("/arena/consumer/state/stop", test_stop);
  arena_test_add ("/arena/consumer/state/remote", test_remote);
  arena_test_add ("/arena/consumer/state/death", test_death);
  arena_test_add ("/arena/consumer/state/unused", test_unused);
  return g_test_run ();
}
