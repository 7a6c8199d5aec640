/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-call.h"

#define PATIENCE_US (10 * G_USEC_PER_SEC)
#define PERIOD_US   16000

static GMainContext *
get_context (void)
{
  GMainContext *context = g_main_context_get_thread_default ();

  return context != NULL ? context : g_main_context_default ();
}

void
arena_test_call_done (GObject      *object,
                      GAsyncResult *result,
                      gpointer      data)
{
  ArenaTestCall *self = data;

  g_assert_null (self->result);
  self->result = g_object_ref (result);
  self->object = object != NULL ? g_object_ref (object) : NULL;
  self->done_at = g_get_monotonic_time ();
}

void
arena_test_call_clear (ArenaTestCall *self)
{
  g_clear_object (&self->result);
  g_clear_object (&self->object);
}

static gboolean
set_flag (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

/* Turns the context until *@result is there; FALSE after @ms without. */
static gboolean
turn_until (GAsyncResult **result,
            guint          ms)
{
  GSource *timeout = g_timeout_source_new (ms);
  gboolean over = FALSE;

  g_source_set_callback (timeout, set_flag, &over, NULL);
  g_source_attach (timeout, get_context ());
  while (!over && (result == NULL || *result == NULL))
    g_main_context_iteration (get_context (), TRUE);

  g_source_destroy (timeout);
  g_source_unref (timeout);
  return result != NULL && *result != NULL;
}

void
arena_test_call_wait (ArenaTestCall *self)
{
  g_assert_true (turn_until (&self->result, PATIENCE_US / 1000));
}

void
arena_test_call_assert_pending (ArenaTestCall *self,
                                guint          for_ms)
{
  g_assert_false (turn_until (&self->result, for_ms));
}

void
arena_test_turn (guint ms)
{
  turn_until (NULL, ms);
}

ArenaUnit *
arena_test_call_next (ArenaTestCall  *self,
                      GError        **error)
{
  ArenaUnit *unit;

  arena_test_call_wait (self);
  unit = arena_consumer_next_finish (ARENA_CONSUMER (self->object), self->result, error);
  arena_test_call_clear (self);
  return unit;
}

ArenaUnit *
arena_test_next_async (ArenaConsumer  *consumer,
                       GError        **error)
{
  ArenaTestCall call = { NULL };

  arena_consumer_next_async (consumer, PATIENCE_US, NULL, arena_test_call_done, &call);
  return arena_test_call_next (&call, error);
}

static gboolean
on_timer (gpointer data)
{
  ArenaTestTimer *self = data;
  gint64 lateness = g_get_monotonic_time () - self->due;

  g_array_append_val (self->lateness, lateness);
  self->due = g_get_monotonic_time () + PERIOD_US;
  g_source_set_ready_time (self->source, self->due);
  return G_SOURCE_CONTINUE;
}

static gboolean
dispatch_timer (GSource     *source G_GNUC_UNUSED,
                GSourceFunc  callback,
                gpointer     data)
{
  return callback (data);
}

void
arena_test_timer_start (ArenaTestTimer *self)
{
  static GSourceFuncs funcs = { .dispatch = dispatch_timer };

  self->lateness = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->source = g_source_new (&funcs, sizeof (GSource));
  self->due = g_get_monotonic_time () + PERIOD_US;
  g_source_set_ready_time (self->source, self->due);
  g_source_set_callback (self->source, on_timer, self, NULL);
  g_source_attach (self->source, get_context ());
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  gint64 x = *(const gint64 *) a;
  gint64 y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

gint64
arena_test_timer_stop (ArenaTestTimer *self)
{
  gint64 percentile;

  g_assert_cmpuint (self->lateness->len, >, 0);
  g_array_sort (self->lateness, compare);
  percentile = g_array_index (self->lateness, gint64, self->lateness->len * 99 / 100);
  g_source_destroy (self->source);
  g_source_unref (self->source);
  g_array_unref (self->lateness);
  return percentile;
}
