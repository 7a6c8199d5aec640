/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "backend/arena-writer-state-private.h"
#include "base/arena-error-private.h"
#include "sync/arena-event-private.h"
#include "sync/arena-timing-private.h"

static void
open_state (ArenaEnds        *ends,
            ArenaWriterState *state)
{
  arena_ends_open_pool (ends, 1000, 1);
  arena_writer_state_init (state, ends->storage, "a thing");
}

static void
test_open_and_close (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  ArenaWriterState state = { 0 };
  g_autoptr (GError) error = NULL;

  open_state (&ends, &state);
  g_assert_false (arena_writer_state_check_open (&state, "call", &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "call()");
  g_assert_true (arena_writer_state_prepare (&state, 5, cancellable, &error));
  arena_writer_state_open (&state);
  g_assert_true (arena_writer_state_check_open (&state, "call", &error));
  g_assert_true (state.cancellable == cancellable);
  g_assert_cmpint (state.deadline, >, 5);
  g_assert_false (arena_writer_state_prepare (&state, 5, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
  arena_writer_state_close (&state);
  g_assert_null (state.cancellable);
  g_assert_false (state.in_unit);
  arena_writer_state_clear (&state);
}

static void
test_place (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaWriterState state = { 0 };
  g_autoptr (GError) error = NULL;
  ArenaLayout layout;
  guint64 offset;

  open_state (&ends, &state);
  g_assert_true (arena_writer_state_place (&state, 10, 0, 100, "limit", &layout, &offset, &error));
  g_assert_cmpuint (offset, ==, 0);
  g_assert_cmpuint (state.layout.end, ==, 0);
  state.layout = layout;
  g_assert_true (arena_writer_state_place (&state, 36, 0, 100, "limit", &layout, &offset, &error));
  g_assert_cmpuint (offset, ==, 64);
  g_assert_false (arena_writer_state_place (&state, 37, 0, 100, "limit", &layout, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "37 bytes", "after 10 used", "limit 100");
  arena_writer_state_clear (&state);
}

/* What a boundary sends outside of the arena, a writer alone can't. */
static void
test_refuse_size (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaWriterState state = { 0 };
  g_autoptr (GError) error = NULL;

  open_state (&ends, &state);
  arena_writer_state_refuse_size (&state, &error, "%d bytes", 5);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "5 bytes");
  state.channel->geometry.oversize = ARENA_OVERSIZE_SPILL;
  arena_writer_state_refuse_size (&state, &error, "%d bytes", 5);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "5 bytes; oversize=spill takes a producer");
  state.channel->geometry.queue_size = 1;
  arena_writer_state_refuse_size (&state, &error, "%d bytes", 5);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "5 bytes");
  arena_writer_state_clear (&state);
}

static void
test_says_what_ended_the_wait (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  ArenaWriterState state = { 0 };
  g_autoptr (GError) error = NULL;

  open_state (&ends, &state);
  g_assert_true (arena_writer_state_start_epoch (&state, 3, &error));
  g_assert_true (arena_writer_state_check_wait (&state, &error));
  atomic_store (&ends.storage->channel->cc->stop_epoch, 3);
  g_assert_false (arena_writer_state_check_wait (&state, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "While waiting for a thing", "stopped");
  arena_storage_shutdown (ends.storage, NULL);
  g_assert_false (arena_writer_state_check_wait (&state, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "Shut down while waiting for a thing");
  arena_writer_state_clear (&state);
}

static ArenaWaitStatus
check_done (gpointer   data,
            GError   **error)
{
  return ++*(guint *) data > 3 ? ARENA_WAIT_DONE : ARENA_WAIT_PENDING;
}

static void
arm_nothing (gpointer data)
{
}

static void
test_one_wait (void)
{
  const ArenaWaitOps ops = { .what = "a thing", .check = check_done, .arm = arm_nothing };
  g_auto (ArenaEnds) ends = { 0 };
  ArenaWriterState state = { 0 };
  g_autoptr (GError) error = NULL;
  guint n = 0;

  open_state (&ends, &state);
  state.deadline = arena_timing.stall_log + g_get_monotonic_time ();
  g_assert_true (arena_waiter_enter (&state.waiter, NULL));
  g_assert_false (arena_writer_state_wait (&state, &ops, &n, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BUSY);
  arena_waiter_leave (&state.waiter);

  arena_event_signal (ends.storage->channel->wake_producer);
  n = 3;
  g_assert_true (arena_writer_state_wait (&state, &ops, &n, &error));
  g_assert_true (arena_waiter_enter (&state.waiter, NULL));
  arena_waiter_leave (&state.waiter);
  arena_writer_state_clear (&state);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/writer-state/open-and-close", test_open_and_close);
  arena_test_add ("/arena/writer-state/place-changes-nothing-by-itself", test_place);
  arena_test_add ("/arena/writer-state/size-refused", test_refuse_size);
  arena_test_add ("/arena/writer-state/says-what-ended-the-wait", test_says_what_ended_the_wait);
  arena_test_add ("/arena/writer-state/one-wait-at-a-time", test_one_wait);
  return g_test_run ();
}
