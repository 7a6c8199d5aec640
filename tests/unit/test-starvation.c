/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include "boundary/arena-starvation-private.h"

#define SEGMENTS 3
#define SIZE     4096

/* A pool with both ends in this process, and a queue that stays empty. */
typedef struct
{
  ArenaStorage   *storage;
  ArenaWriter    *writer;
  ArenaReader    *reader;
  ArenaQueueIn    queue;
  ArenaStarvation starvation;
  GBytes         *held[SEGMENTS]; /* by segment */
  guint64         unit;
} Fixture;

static void
set_up_with (Fixture    *f,
             ArenaReuse  reuse)
{
  ArenaGeometry geometry = { 0 };

  *f = (Fixture) { 0 };
  g_assert_true (arena_geometry_init_pool (&geometry, SIZE, SEGMENTS, NULL));
  g_assert_true (arena_geometry_set_queue (&geometry, 2, 256, 64, NULL));
  geometry.reuse = reuse;
  f->storage = arena_storage_new (&geometry, NULL, NULL, NULL);
  f->writer = arena_storage_open_local_writer (f->storage, NULL);
  f->reader = arena_storage_open_reader (f->storage, NULL);
  g_assert_nonnull (f->reader);
  g_assert_true (arena_writer_start_epoch (f->writer, 1, NULL));
  arena_queue_in_init (&f->queue, f->storage->channel);
  arena_starvation_init (&f->starvation, ARENA_POOL_READER (f->reader), SEGMENTS);
}

static void
set_up (Fixture *f)
{
  set_up_with (f, ARENA_REUSE_IN_ORDER);
}

static void
tear_down (Fixture *f)
{
  for (guint i = 0; i < SEGMENTS; i++)
    g_clear_pointer (&f->held[i], g_bytes_unref);
  arena_starvation_clear (&f->starvation);
  g_object_unref (f->writer);
  g_object_unref (f->reader);
  arena_storage_unref (f->storage);
}

/* Sends a unit through the pool and keeps it. */
static void
receive (Fixture *f)
{
  static const char byte = 'x';
  g_autoptr(GBytes) data = g_bytes_new_static (&byte, 1);
  guint64 offset, span;
  guint index;

  g_assert_true (arena_writer_begin_unit (f->writer, 1, -1, NULL, NULL));
  g_assert_true (arena_writer_write (f->writer, data, &offset, NULL));
  g_assert_true (arena_writer_commit_unit (f->writer, &span, NULL));
  index = (guint) (offset / f->storage->channel->geometry.stride);
  g_assert_null (f->held[index]);
  f->held[index] = arena_reader_read (f->reader, span, offset, 1, NULL);
  g_assert_nonnull (f->held[index]);
  g_assert_true (arena_reader_end_unit (f->reader, span, NULL));
  arena_starvation_note (&f->starvation, index, f->unit++);
}

/* The producer waits for the segment with this index. */
static void
set_need (Fixture *f,
          guint    index)
{
  atomic_store (&f->storage->channel->cp->need, 10 * SEGMENTS + index + 1);
}

static gboolean
is_starving (Fixture *f)
{
  return arena_starvation_check (&f->starvation, &f->queue);
}

static void
test_nobody_waits (void)
{
  Fixture f;

  set_up (&f);
  for (guint i = 0; i < SEGMENTS; i++)
    receive (&f);
  g_assert_false (is_starving (&f));
  tear_down (&f);
}

/* H9: in order, one held segment is enough, and any other held one is not. */
static void
test_only_the_wanted_segment_counts (void)
{
  Fixture f;

  set_up (&f);
  receive (&f);
  set_need (&f, 0);
  g_assert_true (is_starving (&f));
  set_need (&f, 1);
  g_assert_false (is_starving (&f));

  set_need (&f, 0);
  g_clear_pointer (&f.held[0], g_bytes_unref);
  g_assert_false (is_starving (&f));
  tear_down (&f);
}

/* Protocol 5.4, any: what is held here and what is on loan there make all of them. */
static void
test_any (void)
{
  g_autofree char *text = NULL;
  ArenaWord *need;
  Fixture f;

  set_up_with (&f, ARENA_REUSE_ANY);
  need = &f.storage->channel->cp->need;
  receive (&f);
  receive (&f);
  atomic_store (need, 1);
  g_assert_false (is_starving (&f));
  atomic_store (need, 2);
  g_assert_true (is_starving (&f));
  text = arena_starvation_describe (&f.starvation, &f.queue);
  g_assert_cmpstr (text, ==, "Units 0, 1 are held here, and 1 more of its buffers are kept by the producer; release units "
                   "sooner, or make the pool larger than its 3 segments");

  receive (&f);
  g_assert_false (is_starving (&f));
  atomic_store (need, 1);
  g_assert_true (is_starving (&f));
  atomic_store (&f.storage->channel->cp->qhead, 1);
  g_assert_false (is_starving (&f));
  tear_down (&f);
}

/* A unit in the queue is no wait for oneself. */
static void
test_queued_unit (void)
{
  Fixture f;

  set_up (&f);
  receive (&f);
  set_need (&f, 0);
  atomic_store (&f.storage->channel->cp->qhead, 1);
  g_assert_false (is_starving (&f));
  tear_down (&f);
}

/* A ring's consumer holds nothing. */
static void
test_without_a_pool (void)
{
  ArenaStarvation none;
  Fixture f;

  set_up (&f);
  arena_starvation_init (&none, NULL, 0);
  set_need (&f, 0);
  arena_starvation_note (&none, 7, 1);
  g_assert_false (arena_starvation_check (&none, &f.queue));
  arena_starvation_clear (&none);
  tear_down (&f);
}

/* F159: the message names the units, not the segments. */
static void
test_describe (void)
{
  g_autofree char *several = NULL;
  g_autofree char *one = NULL;
  Fixture f;

  set_up (&f);
  f.unit = 40;
  for (guint i = 0; i < SEGMENTS; i++)
    receive (&f);
  set_need (&f, 1);
  several = arena_starvation_describe (&f.starvation, &f.queue);
  g_assert_true (g_str_has_prefix (several, "Units 40, 41, 42 are held here"));
  g_assert_nonnull (strstr (several, "waits for the segment of unit 41"));
  g_assert_nonnull (strstr (several, "larger than its 3 segments"));

  g_clear_pointer (&f.held[0], g_bytes_unref);
  g_clear_pointer (&f.held[2], g_bytes_unref);
  one = arena_starvation_describe (&f.starvation, &f.queue);
  g_assert_true (g_str_has_prefix (one, "Unit 41 is held here"));
  tear_down (&f);
}

static void
test_reset (void)
{
  ArenaStarvation starvation = { .since = 5, .told = TRUE, .logged = TRUE };

  arena_starvation_reset (&starvation, TRUE);
  g_assert_true (starvation.trying);
  g_assert_cmpint (starvation.since, ==, 0);
  g_assert_false (starvation.told);
  g_assert_false (starvation.logged);

  /* After a wait that timed out it is the same starvation, but who waits again is told again. */
  starvation = (ArenaStarvation) { .since = 5, .told = TRUE, .logged = TRUE, .timed_out = TRUE };
  arena_starvation_reset (&starvation, FALSE);
  g_assert_cmpint (starvation.since, ==, 5);
  g_assert_false (starvation.told);
  g_assert_true (starvation.logged);
  arena_starvation_reset (&starvation, FALSE);
  g_assert_cmpint (starvation.since, ==, 0);
  g_assert_false (starvation.logged);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/starvation/nobody-waits", test_nobody_waits);
  arena_test_add ("/arena/starvation/only-the-wanted-segment-counts", test_only_the_wanted_segment_counts);
  arena_test_add ("/arena/starvation/any", test_any);
  arena_test_add ("/arena/starvation/queued-unit", test_queued_unit);
  arena_test_add ("/arena/starvation/without-a-pool", test_without_a_pool);
  arena_test_add ("/arena/starvation/describe", test_describe);
  arena_test_add ("/arena/starvation/reset", test_reset);
  return g_test_run ();
}
