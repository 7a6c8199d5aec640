/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Iterations as the consumer sees them, with a peer that is written by hand: it says what it likes. */

#define SEGMENT  4096
#define SEGMENTS 3

typedef struct
{
  ArenaConsumer *consumer;
  ArenaTestPeer  peer;
} Fixture;

static void
set_up (Fixture *f)
{
  f->consumer = arena_test_consumer_new (arena_test_pool_new (SEGMENT, SEGMENTS), 2);
  arena_test_peer_init (&f->peer, f->consumer);
}

static void
tear_down (Fixture *f)
{
  arena_test_peer_clear (&f->peer);
  g_object_unref (f->consumer);
}

static void
publish_unit (Fixture *f,
              guint64  epoch,
              guint64  unit)
{
  arena_test_peer_publish (&f->peer, (ArenaSlot) { .unit = unit, .epoch = epoch, .kind = ARENA_SLOT_UNIT });
}

static void
publish_end (Fixture *f,
             guint64  epoch,
             guint64  unit)
{
  arena_test_peer_publish (&f->peer, (ArenaSlot) { .unit = unit, .epoch = epoch, .kind = ARENA_SLOT_END });
}

static guint64
wanted (Fixture *f)
{
  return atomic_load (&f->peer.channel->cc->wanted_epoch);
}

static guint64
stopped (Fixture *f)
{
  return atomic_load (&f->peer.channel->cc->stop_epoch);
}

static void
receive (Fixture *f,
         guint64  epoch,
         guint64  number)
{
  g_autoptr(ArenaUnit) unit = arena_test_next (f->consumer);

  g_assert_cmpuint (arena_unit_get_epoch (unit), ==, epoch);
  g_assert_cmpuint (arena_unit_get_sequence (unit), ==, number);
}

/* The first next() starts the first iteration; the end stays until the next start. */
static void
test_first_starts_itself (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_assert_cmpuint (wanted (&f), ==, 0);
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (wanted (&f), ==, 1);

  publish_unit (&f, 1, 0);
  publish_end (&f, 1, 1);
  receive (&f, 1, 0);
  arena_test_assert_end (f.consumer);
  arena_test_assert_end (f.consumer);
  g_assert_cmpuint (wanted (&f), ==, 1);
  tear_down (&f);
}

/* H11: stop first, then everything is read to the end, and only then is the next asked for; a start that times out goes
 * on later with the same number. */
static void
test_restart (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  publish_unit (&f, 1, 0);
  publish_unit (&f, 1, 1);
  receive (&f, 1, 0);

  for (guint i = 0; i < 3; i++)
    {
      g_assert_true (arena_consumer_start (f.consumer, NULL));
      g_assert_null (arena_consumer_next (f.consumer, i * 5000, NULL, &error));
      g_assert_true (g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK) ||
                     g_error_matches (error, ARENA_ERROR, ARENA_ERROR_TIMED_OUT));
      g_clear_error (&error);
      g_assert_cmpuint (stopped (&f), ==, 1);
      g_assert_cmpuint (wanted (&f), ==, 1);
    }

  publish_end (&f, 1, 2);
  g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (wanted (&f), ==, 2);
  publish_unit (&f, 2, 2);
  receive (&f, 2, 2);
  tear_down (&f);
}

static void
test_stop (void)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  set_up (&f);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  g_assert_false (arena_consumer_stop (f.consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  g_assert_cmpuint (stopped (&f), ==, 1);
  publish_unit (&f, 1, 0);
  publish_end (&f, 1, 1);
  g_assert_true (arena_consumer_stop (f.consumer, 0, NULL, NULL));
  arena_test_assert_end (f.consumer);
  g_assert_cmpuint (wanted (&f), ==, 1);
  tear_down (&f);
}

/* What is thrown away goes back: the pool's segments, in order. */
static void
test_discarded_units_are_released (void)
{
  Fixture f;

  set_up (&f);
  g_assert_true (arena_consumer_start (f.consumer, NULL));
  for (guint64 i = 0; i < 2; i++)
    arena_test_peer_publish (&f.peer, (ArenaSlot) { .unit = i, .epoch = 1, .kind = ARENA_SLOT_UNIT, .size = 100,
                                                    .span = SEGMENTS + i, .offset = i * SEGMENT, .index = (guint32) i });
  publish_end (&f, 1, 2);
  g_assert_true (arena_consumer_stop (f.consumer, 0, NULL, NULL));
  g_assert_cmpuint (atomic_load (&f.peer.channel->cc->released), ==, 2);
  tear_down (&f);
}

static void
assert_refused (ArenaSlot slot)
{
  g_autoptr(GError) error = NULL;
  Fixture f;

  /* As a unit to receive, and as one to throw away. */
  for (guint k = 0; k < 2; k++)
    {
      set_up (&f);
      g_assert_true (arena_consumer_start (f.consumer, NULL));
      arena_test_peer_publish (&f.peer, slot);
      if (k == 1)
        g_assert_true (arena_consumer_start (f.consumer, NULL));
      if (k == 1 && slot.kind == ARENA_SLOT_UNIT && slot.epoch == 1 && slot.unit == 0)
        publish_end (&f, 1, 1);

      g_assert_null (arena_consumer_next (f.consumer, 0, NULL, &error));
      if (k == 0 || !g_error_matches (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK))
        {
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
          /* For good. */
          g_assert_false (arena_consumer_start (f.consumer, &error));
          arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
        }
      g_clear_error (&error);
      tear_down (&f);
    }
}

/* C72, protocol 6: garbage is PROTOCOL at the first bad word, and the own memory stays intact. */
static void
test_garbage (void)
{
  const guint32 unit = ARENA_SLOT_UNIT;
  const guint64 high = G_MAXUINT64;
  const guint64 s0 = SEGMENTS;
  const ArenaSlot bad[] = {
    { .kind = unit, .size = 100, .span = s0, .epoch = 2 },
    { .kind = unit, .size = 100, .span = s0, .epoch = 0 },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .unit = 1 },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .unit = high },
    { .kind = 77, .size = 100, .span = s0, .epoch = 1 },
    { .kind = unit, .size = 100, .span = 0, .epoch = 1 },
    { .kind = unit, .size = 100, .span = 2 * s0, .epoch = 1 },
    { .kind = unit, .size = 100, .span = high / s0 * s0, .epoch = 1 },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .index = SEGMENTS },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .index = G_MAXUINT32 },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .offset = high - 7 },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .offset = SEGMENT },
    { .kind = unit, .size = 100, .span = s0, .epoch = 1, .offset = SEGMENT - 99 },
    { .kind = unit, .size = SEGMENT + 1, .span = s0, .epoch = 1 },
    { .kind = unit, .size = high, .span = s0, .epoch = 1 },
    { .kind = unit, .epoch = 1, .envelope_size = 3 },
    { .kind = ARENA_SLOT_END, .epoch = 1, .unit = 5 },
    { .kind = ARENA_SLOT_ERROR, .epoch = 1, .envelope_size = 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_test_message ("descriptor %u", i);
      assert_refused (bad[i]);
    }
}

/* A segment that this process holds can't be handed over again. */
static void
test_held_segment (void)
{
  ArenaConsumer *consumer = arena_test_consumer_new (arena_test_pool_new (SEGMENT, SEGMENTS), 2);
  g_autoptr(ArenaProducer) producer = arena_test_producer_new (consumer);
  const ArenaSlot again = { .epoch = 1, .unit = 1, .kind = ARENA_SLOT_UNIT, .size = 100, .span = 2 * SEGMENTS };
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_wait_iteration (producer);
  g_assert_true (arena_test_send (producer, SEGMENT, -1, NULL));
  unit = arena_test_next (consumer);
  arena_queue_out_publish (&producer->queue, &again);
  g_assert_null (arena_consumer_next (consumer, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "still held");
  arena_test_assert_unit (unit, SEGMENT);
  g_object_unref (consumer);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/consumer/epoch/first-starts-itself", test_first_starts_itself);
  arena_test_add ("/arena/consumer/epoch/restart", test_restart);
  arena_test_add ("/arena/consumer/epoch/stop", test_stop);
  arena_test_add ("/arena/consumer/epoch/discarded-units-are-released", test_discarded_units_are_released);
  arena_test_add ("/arena/consumer/epoch/garbage", test_garbage);
  arena_test_add ("/arena/consumer/epoch/held-segment", test_held_segment);
  return g_test_run ();
}
