/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#include <poll.h>

/* F161, F174: a consumer in somebody's main loop: a source, and a descriptor. */

#define SIZE 8192

typedef struct
{
  ArenaConsumer *consumer;
  ArenaProducer *producer;
  GSource       *source;
  guint          n_called;
  guint          n_units;
  guint          n_starved;
  gboolean       ended;
  GError        *error;
} Fixture;

/* As an application does: takes what is there. */
static gboolean
take (gpointer data)
{
  Fixture *f = data;
  g_autoptr(ArenaUnit) unit = arena_consumer_next (f->consumer, 0, NULL, &f->error);

  f->n_called++;
  if (unit == NULL)
    {
      f->ended = TRUE;
      return G_SOURCE_REMOVE;
    }

  arena_test_assert_unit (unit, SIZE);
  f->n_units++;
  return G_SOURCE_CONTINUE;
}

static void
set_up (Fixture *f,
        guint    count)
{
  *f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, count), 2) };
  f->producer = arena_test_producer_new (f->consumer);
  g_assert_true (arena_consumer_start (f->consumer, NULL));
  arena_test_wait_iteration (f->producer);
}

static void
attach (Fixture      *f,
        GCancellable *cancellable)
{
  f->source = arena_consumer_create_source (f->consumer, cancellable);
  g_source_set_callback (f->source, take, f, NULL);
  g_source_attach (f->source, NULL);
}

static void
tear_down (Fixture *f)
{
  if (f->source != NULL)
    g_source_destroy (f->source);
  g_clear_pointer (&f->source, g_source_unref);
  g_clear_error (&f->error);
  g_clear_object (&f->producer);
  arena_test_close (f->consumer, NULL);
}

static void
send (Fixture *f)
{
  g_assert_true (arena_test_send (f->producer, SIZE, 0, NULL));
}

static void
test_units (void)
{
  Fixture f;

  set_up (&f, 3);
  attach (&f, NULL);
  arena_test_turn (20);
  g_assert_cmpuint (f.n_called, ==, 0);
  for (guint i = 1; i <= 3; i++)
    {
      send (&f);
      arena_test_turn (20);
      g_assert_cmpuint (f.n_units, ==, i);
      g_assert_cmpuint (f.n_called, ==, i);
    }
  g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
  arena_test_turn (20);
  g_assert_true (f.ended);
  g_assert_no_error (f.error);
  g_assert_true (g_source_is_destroyed (f.source));
  tear_down (&f);
}

/* What wakes the context isn't always something to say: the hello's answer is none. */
static void
test_attached_before_the_answer (void)
{
  Fixture f = { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2) };

  g_assert_true (arena_consumer_start (f.consumer, NULL));
  attach (&f, NULL);
  arena_test_turn (10);
  f.producer = arena_test_producer_new (f.consumer);
  arena_test_wait_iteration (f.producer);
  arena_test_turn (20);
  g_assert_cmpuint (f.n_called, ==, 0);
  send (&f);
  arena_test_turn (20);
  g_assert_cmpuint (f.n_units, ==, 1);
  tear_down (&f);
}

/* Published first, then the death; and the death alone. */
static void
test_death (void)
{
  for (guint n = 0; n < 3; n++)
    {
      Fixture f;

      set_up (&f, 3);
      attach (&f, NULL);
      arena_test_turn (5);
      for (guint i = 0; i < n; i++)
        send (&f);
      g_clear_object (&f.producer);
      arena_test_turn (30);
      g_assert_cmpuint (f.n_units, ==, n);
      arena_test_assert_error (f.error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
      tear_down (&f);
    }
}

static void
test_cancelled (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  Fixture f;

  set_up (&f, 3);
  attach (&f, cancellable);
  arena_test_turn (5);
  g_cancellable_cancel (cancellable);
  arena_test_turn (5);
  g_assert_cmpuint (f.n_called, ==, 1);
  arena_test_assert_error (f.error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  tear_down (&f);
}

/* The source holds the consumer. */
static void
test_owner_drops (void)
{
  Fixture f;

  set_up (&f, 3);
  attach (&f, NULL);
  g_object_unref (f.consumer);
  send (&f);
  arena_test_turn (10);
  g_assert_cmpuint (f.n_units, ==, 1);
  g_object_ref (f.consumer);
  tear_down (&f);

  /* Never attached. */
  set_up (&f, 3);
  f.source = arena_consumer_create_source (f.consumer, NULL);
  tear_down (&f);
}

/* An asynchronous call takes what comes, and the source keeps quiet. */
static void
test_pending_call (void)
{
  ArenaTestCall call = { NULL };
  g_autoptr(ArenaUnit) unit = NULL;
  Fixture f;

  set_up (&f, 3);
  attach (&f, NULL);
  arena_consumer_next_async (f.consumer, -1, NULL, arena_test_call_done, &call);
  arena_test_call_assert_pending (&call, 10);
  send (&f);
  unit = arena_test_call_next (&call, NULL);
  g_assert_nonnull (unit);
  g_assert_cmpuint (f.n_called, ==, 0);
  tear_down (&f);
}

static gboolean
on_starved (ArenaConsumer *consumer G_GNUC_UNUSED,
            guint          n_held,
            Fixture       *f)
{
  g_assert_cmpuint (n_held, ==, 1);
  f->n_starved++;
  return FALSE;
}

/* However often the loop turns. */
static void
test_starved_once (void)
{
  ArenaTestCall call = { NULL };
  ArenaUnit *kept;
  Fixture f;

  set_up (&f, 1);
  g_signal_connect (f.consumer, "starved", G_CALLBACK (on_starved), &f);
  send (&f);
  kept = arena_test_next (f.consumer);
  attach (&f, NULL);
  arena_producer_begin_unit_async (f.producer, SIZE, -1, NULL, arena_test_call_done, &call);
  for (guint i = 0; i < 20; i++)
    arena_test_turn (2);
  g_assert_cmpuint (f.n_starved, ==, 1);
  g_assert_cmpuint (f.n_called, ==, 0);
  g_object_unref (kept);
  arena_test_call_wait (&call);
  g_assert_nonnull (arena_producer_begin_unit_finish (f.producer, call.result, NULL));
  arena_test_call_clear (&call);
  arena_unit_builder_abort (f.producer->builder);
  tear_down (&f);
}

static void
marshal_take (GClosure     *closure G_GNUC_UNUSED,
              GValue       *result,
              guint         n_params,
              const GValue *params G_GNUC_UNUSED,
              gpointer      hint G_GNUC_UNUSED,
              gpointer      data)
{
  g_assert_cmpuint (n_params, ==, 0);
  g_value_set_boolean (result, take (data));
}

/* As a script's function arrives (with a marshaller of its own), and as C's does. */
static void
test_closure (void)
{
  for (guint script = 0; script < 2; script++)
    {
      GClosure *closure;
      Fixture f;

      set_up (&f, 3);
      f.source = arena_consumer_create_source (f.consumer, NULL);
      if (script == 1)
        {
          closure = g_closure_new_simple (sizeof (GClosure), NULL);
          g_closure_set_marshal (closure, marshal_take);
          g_closure_set_meta_marshal (closure, &f, marshal_take);
        }
      else
        closure = g_cclosure_new (G_CALLBACK (take), &f, NULL);
      g_source_set_closure (f.source, closure);
      g_source_attach (f.source, NULL);
      for (guint i = 1; i <= 2; i++)
        {
          send (&f);
          arena_test_turn (10);
          g_assert_cmpuint (f.n_units, ==, i);
        }
      g_assert_true (arena_producer_finish_iteration (f.producer, NULL));
      arena_test_turn (10);
      g_assert_true (g_source_is_destroyed (f.source));
      tear_down (&f);
    }
}

static gboolean
is_readable (int fd,
             int timeout_ms)
{
  struct pollfd watch = { .fd = fd, .events = POLLIN };

  return poll (&watch, 1, timeout_ms) == 1;
}

static void
assert_would_block (Fixture *f)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (arena_consumer_next (f->consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
}

static void
test_fd (void)
{
  Fixture f;
  g_autoptr(GError) error = NULL;
  int fd;

  /* Asked for before the answer, which it announces. */
  f = (Fixture) { .consumer = arena_test_consumer_new (arena_test_pool_new (SIZE, 3), 2) };
  fd = arena_consumer_get_fd (f.consumer, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (arena_consumer_get_fd (f.consumer, NULL), ==, fd);
  assert_would_block (&f);
  g_assert_false (is_readable (fd, 10));
  f.producer = arena_test_producer_new (f.consumer);
  g_assert_true (is_readable (fd, 1000));
  assert_would_block (&f);
  g_assert_false (is_readable (fd, 10));
  arena_test_wait_iteration (f.producer);

  for (guint i = 0; i < 3; i++)
    {
      send (&f);
      g_assert_true (is_readable (fd, 1000));
      arena_test_receive (f.consumer, 1, SIZE);
      assert_would_block (&f);
      g_assert_false (is_readable (fd, 0));
    }

  /* The pidfd came with the answer. */
  g_assert_cmpint (arena_consumer_get_private (f.consumer)->epoll_pidfd, ==,
                   arena_consumer_get_private (f.consumer)->channel->peer.pidfd);
  g_clear_object (&f.producer);
  g_assert_true (is_readable (fd, 1000));
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  g_assert_true (arena_consumer_close (f.consumer, -1, NULL, NULL));
  g_assert_cmpint (arena_consumer_get_fd (f.consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  tear_down (&f);
}

static void
test_uninitialized (void)
{
  Fixture f = { .consumer = g_object_new (ARENA_TYPE_CONSUMER, NULL) };
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (arena_consumer_get_fd (f.consumer, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  attach (&f, NULL);
  arena_test_turn (5);
  arena_test_assert_error (f.error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  tear_down (&f);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_warm_up_subprocess ();
  arena_test_add ("/arena/consumer/source/units", test_units);
  arena_test_add ("/arena/consumer/source/attached-before-the-answer", test_attached_before_the_answer);
  arena_test_add ("/arena/consumer/source/death", test_death);
  arena_test_add ("/arena/consumer/source/cancelled", test_cancelled);
  arena_test_add ("/arena/consumer/source/owner-drops", test_owner_drops);
  arena_test_add ("/arena/consumer/source/pending-call", test_pending_call);
  arena_test_add ("/arena/consumer/source/starved-once", test_starved_once);
  arena_test_add ("/arena/consumer/source/closure", test_closure);
  arena_test_add ("/arena/consumer/source/fd", test_fd);
  arena_test_add ("/arena/consumer/source/uninitialized", test_uninitialized);
  return g_test_run ();
}
