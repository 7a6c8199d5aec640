/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/arena-error.h"
#include "boundary/arena-queue-private.h"
#include "sync/arena-event-private.h"

#define QUEUE_SIZE 3
#define ENVELOPE   256

/* Both ends of a queue; the peer's page is the own one. */
typedef struct
{
  ArenaChannel *channel;
  ArenaQueueOut out;
  ArenaQueueIn  in;
} Fixture;

static void
set_up (Fixture *f,
        guint64  first_cursor,
        gboolean arena)
{
  ArenaGeometry geometry = { 0 };

  if (arena)
    g_assert_true (arena_geometry_init_pool (&geometry, 4096, 2, NULL));
  geometry.first_cursor = first_cursor;
  g_assert_true (arena_geometry_set_queue (&geometry, QUEUE_SIZE, ENVELOPE, 64, NULL));
  f->channel = arena_channel_new (&geometry, NULL);
  g_assert_true (arena_channel_attach_local (f->channel, NULL));
  arena_queue_out_init (&f->out, f->channel);
  arena_queue_in_init (&f->in, f->channel);
}

static void
tear_down (Fixture *f)
{
  arena_channel_unref (f->channel);
}

static void
publish (Fixture *f,
         guint64  unit)
{
  ArenaSlot slot = { .unit = unit, .epoch = 1, .envelope_size = ENVELOPE, .kind = ARENA_SLOT_UNIT };

  arena_test_fill_pattern (arena_queue_out_envelope (&f->out), ENVELOPE, unit);
  arena_queue_out_publish (&f->out, &slot);
}

static void
take (Fixture *f,
      guint64  unit)
{
  g_autofree guint8 *envelope = NULL;
  g_autoptr(GError) error = NULL;
  ArenaSlot slot;

  g_assert_true (arena_queue_in_has_slot (&f->in, NULL));
  g_assert_true (arena_queue_in_take (&f->in, &slot, &envelope, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (slot.unit, ==, unit);
  g_assert_cmpuint (slot.envelope_size, ==, ENVELOPE);
  g_assert_true (arena_test_check_pattern (envelope, ENVELOPE, unit));
}

static gboolean
is_signalled (int event)
{
  struct pollfd watch = { .fd = event, .events = POLLIN };

  return poll (&watch, 1, 0) == 1;
}

/* Cursors start where they would be after years, and the slots go round many times. */
static void
test_round_trip (void)
{
  static const guint64 firsts[] = { 0, (G_GUINT64_CONSTANT (1) << 32) - 3, (G_GUINT64_CONSTANT (1) << 53) - 3,
                                    (G_GUINT64_CONSTANT (1) << 63) - 1000000 };

  for (guint k = 0; k < G_N_ELEMENTS (firsts); k++)
    {
      Fixture f;

      set_up (&f, firsts[k], TRUE);
      for (guint64 unit = 0; unit < 50; unit += QUEUE_SIZE)
        {
          for (guint i = 0; i < QUEUE_SIZE; i++)
            {
              g_assert_true (arena_queue_out_has_room (&f.out, NULL));
              publish (&f, unit + i);
            }
          g_assert_false (arena_queue_out_has_room (&f.out, NULL));
          for (guint i = 0; i < QUEUE_SIZE; i++)
            take (&f, unit + i);
          g_assert_false (arena_queue_in_has_slot (&f.in, NULL));
        }
      tear_down (&f);
    }
}

/* END and ERROR have slots of their own: a full queue takes them. */
static void
test_end_fits_a_full_queue (void)
{
  ArenaSlot end = { .unit = QUEUE_SIZE, .epoch = 1, .kind = ARENA_SLOT_END };
  g_autofree guint8 *envelope = NULL;
  ArenaSlot slot;
  Fixture f;

  set_up (&f, 0, TRUE);
  for (guint i = 0; i < QUEUE_SIZE; i++)
    publish (&f, i);
  arena_queue_out_publish (&f.out, &end);
  for (guint i = 0; i < QUEUE_SIZE; i++)
    take (&f, i);
  g_assert_true (arena_queue_in_has_slot (&f.in, NULL));
  g_assert_true (arena_queue_in_take (&f.in, &slot, &envelope, NULL));
  g_assert_cmpuint (slot.kind, ==, ARENA_SLOT_END);
  g_assert_null (envelope);
  tear_down (&f);
}

/* An envelope that comes outside is not read from the slot, however long it says it is. */
static void
test_envelope_outside (void)
{
  ArenaSlot slot = { .kind = ARENA_SLOT_UNIT, .spilled = 1, .envelope_size = G_MAXUINT32 };
  g_autofree guint8 *envelope = NULL;
  ArenaSlot copy;
  Fixture f;

  set_up (&f, 0, TRUE);
  arena_queue_out_publish (&f.out, &slot);
  g_assert_true (arena_queue_in_has_slot (&f.in, NULL));
  g_assert_true (arena_queue_in_take (&f.in, &copy, &envelope, NULL));
  g_assert_null (envelope);
  g_assert_cmpuint (copy.envelope_size, ==, G_MAXUINT32);
  tear_down (&f);
}

/* F03: no system call while both are busy; a sleeper is woken by exactly what it waits for. */
static void
test_wakes_only_a_sleeper (void)
{
  Fixture f;

  set_up (&f, 7, TRUE);
  publish (&f, 0);
  g_assert_false (is_signalled (f.channel->wake_consumer));
  take (&f, 0);
  g_assert_false (is_signalled (f.channel->wake_producer));

  arena_queue_in_arm (&f.in);
  publish (&f, 1);
  g_assert_true (is_signalled (f.channel->wake_consumer));
  arena_event_drain (f.channel->wake_consumer);
  publish (&f, 2);
  publish (&f, 3);
  g_assert_false (is_signalled (f.channel->wake_consumer));

  g_assert_false (arena_queue_out_has_room (&f.out, NULL));
  arena_queue_out_arm (&f.out);
  take (&f, 1);
  g_assert_true (is_signalled (f.channel->wake_producer));
  g_assert_true (arena_queue_out_has_room (&f.out, NULL));
  tear_down (&f);
}

/* H10: a descriptor and a standing need can't be seen together. */
static void
test_publish_ends_need (void)
{
  Fixture f;

  set_up (&f, 0, TRUE);
  atomic_store (&f.channel->cp->need, 5);
  publish (&f, 0);
  g_assert_cmpuint (atomic_load (&f.channel->cp->need), ==, 0);
  tear_down (&f);
}

static void
assert_broken_head (guint64 seen,
                    guint64 value)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f, 10, TRUE);
  if (seen > 10)
    publish (&f, 0);
  g_assert_true (arena_queue_in_has_slot (&f.in, NULL) == (seen > 10));
  f.in.tail = f.in.head;
  atomic_store (&f.channel->cp->qhead, value);
  g_assert_false (arena_queue_in_has_slot (&f.in, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "queue head");
  tear_down (&f);
}

/* C72: a cursor that runs back, too far, or beyond 2^63. */
static void
test_broken_head (void)
{
  assert_broken_head (11, 10);
  assert_broken_head (10, 10 + QUEUE_SIZE + 3);
  assert_broken_head (10, G_MAXUINT64);
}

static void
test_broken_tail (void)
{
  static const guint64 values[] = { 9, 10 + QUEUE_SIZE + 1, G_MAXUINT64 };

  for (guint k = 0; k < G_N_ELEMENTS (values); k++)
    {
      g_autoptr(GError) error = NULL;
      Fixture f;

      set_up (&f, 10, TRUE);
      for (guint i = 0; i < QUEUE_SIZE; i++)
        publish (&f, i);
      atomic_store (&f.channel->cc->qtail, values[k]);
      g_assert_false (arena_queue_out_has_room (&f.out, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "queue tail");
      tear_down (&f);
    }
}

static void
assert_refused (ArenaSlot   slot,
                gboolean    arena,
                const char *text)
{
  g_autofree guint8 *envelope = NULL;
  g_autoptr(GError) error = NULL;
  ArenaSlot copy;
  Fixture f;

  set_up (&f, 0, arena);
  arena_queue_out_publish (&f.out, &slot);
  g_assert_true (arena_queue_in_has_slot (&f.in, NULL));
  g_assert_false (arena_queue_in_take (&f.in, &copy, &envelope, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, text);
  g_assert_null (envelope);
  tear_down (&f);
}

/* C72: what no correct peer writes is refused at the first bad word. */
static void
test_bad_descriptors (void)
{
  assert_refused ((ArenaSlot) { .kind = 0 }, TRUE, "unknown kind");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_ERROR + 1 }, TRUE, "unknown kind");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .envelope_size = ENVELOPE + 1 }, TRUE, "envelope");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .envelope_size = G_MAXUINT32 }, TRUE, "envelope");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .size = 1 }, FALSE, "no arena");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .spilled = 2 }, TRUE, "announces 2 messages");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_END, .spilled = 1 }, TRUE, "announces 1 messages");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_ERROR, .spilled = 1 }, TRUE, "announces 1 messages");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .size = 1, .span = 3, .index = 2 }, TRUE, "segment 2 of 2");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .size = 1, .span = 3, .index = 0 }, TRUE, "segment");
  assert_refused ((ArenaSlot) { .kind = ARENA_SLOT_UNIT, .size = 1, .span = 2, .offset = 65 }, TRUE, "65, not a multiple");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/queue/round-trip", test_round_trip);
  arena_test_add ("/arena/queue/end-fits-a-full-queue", test_end_fits_a_full_queue);
  arena_test_add ("/arena/queue/envelope-outside", test_envelope_outside);
  arena_test_add ("/arena/queue/wakes-only-a-sleeper", test_wakes_only_a_sleeper);
  arena_test_add ("/arena/queue/publish-ends-need", test_publish_ends_need);
  arena_test_add ("/arena/queue/broken-head", test_broken_head);
  arena_test_add ("/arena/queue/broken-tail", test_broken_tail);
  arena_test_add ("/arena/queue/bad-descriptors", test_bad_descriptors);
  return g_test_run ();
}
