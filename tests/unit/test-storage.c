/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "base/arena-error-private.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static ArenaStorage *
new_storage (guint count)
{
  g_autoptr (GError) error = NULL;
  ArenaGeometry geometry;
  ArenaStorage *storage;

  if (count > 0)
    arena_geometry_init_pool (&geometry, 4096, count, &error);
  else
    arena_geometry_init_ring (&geometry, 4096, &error);
  g_assert_no_error (error);
  storage = arena_storage_new (&geometry, NULL, NULL, &error);
  g_assert_no_error (error);
  return storage;
}

typedef gboolean (*Step) (ArenaStorage  *storage,
                          GError       **error);

/* Every order of the three, each twice. */
static void
test_ends_in_any_order (void)
{
  const Step steps[] = { arena_storage_shutdown, arena_storage_close, arena_storage_unlink };

  for (guint order = 0; order < 27; order++)
    {
      g_autoptr (ArenaStorage) storage = new_storage (2);
      g_autoptr (GError) error = NULL;
      guint digits = order;

      for (guint i = 0; i < 3; i++, digits /= 3)
        for (guint twice = 0; twice < 2; twice++)
          {
            g_assert_true (steps[digits % 3] (storage, &error));
            g_assert_no_error (error);
          }
    }
}

static void
test_closed_opens_nothing (void)
{
  g_autoptr (ArenaStorage) storage = new_storage (1);
  g_autoptr (GError) error = NULL;

  arena_storage_close (storage, NULL);
  g_assert_null (storage->data);
  g_assert_null (arena_storage_open_reader (storage, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_null (arena_storage_open_local_writer (storage, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_null (arena_storage_open_writer (storage, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
}

static void
test_unlink_closes_one_fd (void)
{
  g_autoptr (ArenaStorage) storage = new_storage (1);
  g_autoptr (GError) error = NULL;
  guint n = arena_test_count_fds ();

  arena_storage_unlink (storage, NULL);
  g_assert_cmpuint (arena_test_count_fds (), ==, n - 1);
  g_assert_cmpint (storage->data_fd, ==, -1);

  /* Nobody has claimed it, and nobody can any more. */
  g_assert_null (arena_storage_open_reader (storage, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "unlinked");
}

static void
test_each_end_opens_once (void)
{
  for (guint count = 0; count < 2; count++)
    {
      g_auto (ArenaEnds) ends = { 0 };
      g_autoptr (GError) error = NULL;

      arena_ends_open_at (&ends, 4096, count, 0, count);
      g_assert_null (arena_storage_open_reader (ends.storage, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
      g_assert_null (arena_storage_open_local_writer (ends.storage, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");

      g_clear_object (&ends.reader);
      arena_storage_forget_reader (ends.storage);
      ends.reader = arena_storage_open_reader (ends.storage, &error);
      g_assert_no_error (error);
    }
}

static int
open_in_child (gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaReader) reader = arena_storage_open_reader (*(ArenaStorage **) data, &error);

  if (reader != NULL)
    return 0;

  return g_error_matches (error, ARENA_ERROR, ARENA_ERROR_FORKED) ? 1 : 2;
}

/* An arena nobody has opened goes through fork() and is opened once, in any process. */
static void
test_claimed_once (void)
{
  g_autoptr (ArenaStorage) opened_by_child = new_storage (2);
  g_autoptr (ArenaStorage) opened_by_parent = new_storage (2);
  g_autoptr (ArenaReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  arena_test_assert_child (open_in_child, &opened_by_child);
  g_assert_null (arena_storage_open_reader (opened_by_child, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);

  reader = arena_storage_open_reader (opened_by_parent, &error);
  g_assert_no_error (error);
  status = arena_test_run_child (open_in_child, &opened_by_parent);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);
}

/* Held while the other thread is to stay inside. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static gpointer
stay_inside (gpointer data)
{
  ArenaStorage *storage = data;

  g_assert_true (arena_fork_mutex_lock (&storage->mutex));
  pthread_mutex_lock (&gate);
  pthread_mutex_unlock (&gate);
  arena_fork_mutex_unlock (&storage->mutex);
  return NULL;
}

static gboolean
is_in_use (gpointer data)
{
  return (atomic_load (&((ArenaStorage *) data)->mutex.users) & G_MAXUINT32) != 0;
}

/* Nobody has opened it, but another thread is inside of a call at the moment of the fork. */
static void
test_in_use_at_fork (void)
{
  g_autoptr (ArenaStorage) storage = new_storage (2);
  g_autoptr (ArenaReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  /* valgrind looks for it in the child, which has this thread's registers no more. */
  static GThread *thread;
  int status;

  pthread_mutex_lock (&gate);
  thread = g_thread_new ("inside", stay_inside, storage);
  g_assert_true (arena_test_wait_until (is_in_use, storage, 5000));
  status = arena_test_run_child (open_in_child, &storage);
  pthread_mutex_unlock (&gate);
  g_thread_join (thread);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 1);

  reader = arena_storage_open_reader (storage, &error);
  g_assert_no_error (error);
}

static ArenaStorage *
new_read_only_storage (void)
{
  g_autoptr (GError) error = NULL;
  ArenaGeometry geometry;
  ArenaStorage *storage;

  g_assert_true (arena_geometry_init_pool (&geometry, 4096, 2, NULL));
  geometry.read_only = TRUE;
  storage = arena_storage_new (&geometry, NULL, NULL, &error);
  g_assert_no_error (error);
  return storage;
}

/* Its claim leaves the last seal to the producer, and is no weaker: it outlives the child that had it. */
static void
test_read_only_claimed_once (void)
{
  g_autoptr (ArenaStorage) opened_by_child = new_read_only_storage ();
  g_autoptr (ArenaStorage) opened_by_parent = new_read_only_storage ();
  g_autoptr (ArenaReader) reader = NULL;
  g_autoptr (GError) error = NULL;

  arena_test_assert_child (open_in_child, &opened_by_child);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_null (arena_storage_open_reader (opened_by_child, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_FORKED);
    }
  g_assert_cmpint (WEXITSTATUS (arena_test_run_child (open_in_child, &opened_by_child)), ==, 1);

  reader = arena_storage_open_reader (opened_by_parent, &error);
  g_assert_no_error (error);
  g_assert_cmpint (WEXITSTATUS (arena_test_run_child (open_in_child, &opened_by_parent)), ==, 1);
  g_assert_cmpint (fcntl (opened_by_parent->data_fd, F_GET_SEALS) & F_SEAL_SEAL, ==, 0);
}

/* Protocol 1.4: mapped here only once nobody can map it writable any more. */
static void
test_read_only (void)
{
  const int last_seals = F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  g_autoptr (ArenaStorage) consumer = new_read_only_storage ();
  g_autoptr (ArenaStorage) producer = NULL;
  g_autoptr (ArenaChannel) channel = NULL;
  g_autoptr (ArenaStats) stats = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (ArenaEnds) ends = { .storage = arena_storage_ref (consumer) };
  int data_fd = -1;
  ArenaSent sent;

  g_assert_null (arena_storage_open_local_writer (consumer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "read-only");
  ends.reader = arena_storage_open_reader (consumer, &error);
  g_assert_no_error (error);
  g_assert_true (arena_channel_invite (consumer->channel, consumer->data_fd, &error));
  channel = arena_channel_attach (arena_channel_steal_remote (consumer->channel, NULL), &data_fd, &error);
  g_assert_no_error (error);
  g_assert_null (consumer->data);
  g_assert_null (arena_storage_map_sealed (consumer, consumer->data_fd, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "read-only arena's data file");

  producer = arena_storage_new_attached (channel, data_fd, &error);
  g_assert_no_error (error);
  g_assert_cmpint (fcntl (consumer->data_fd, F_GET_SEALS) & last_seals, ==, last_seals);
  g_assert_cmpint ((int) pwrite (consumer->data_fd, "x", 1, 0), ==, -1);
  g_assert_true (mmap (NULL, 4096, PROT_WRITE, MAP_SHARED, consumer->data_fd, 0) == MAP_FAILED);

  /* The reader has a descriptor of its own. */
  g_assert_true (arena_storage_unlink (consumer, NULL));
  ends.writer = arena_storage_open_writer (producer, &error);
  g_assert_no_error (error);
  g_assert_true (arena_channel_answer (channel, NULL));
  g_assert_true (arena_channel_accept (consumer->channel, NULL));
  for (guint i = 0; i < 5; i++)
    {
      sent = arena_ends_send (&ends, 4096, i);
      arena_ends_pass (&ends, &sent);
    }
  stats = arena_storage_dup_stats (consumer);
  g_assert_cmpuint (arena_stats_get_resident_bytes (stats), ==, 2 * 4096);
}

static int
use_in_child (gpointer data)
{
  ArenaStorage *storage = data;
  g_autoptr (ArenaStats) stats = arena_storage_dup_stats (storage);
  g_auto (ArenaEnds) ends = { .storage = arena_storage_ref (storage) };
  g_autoptr (GError) error = NULL;
  ArenaSent sent;

  /* Nothing of the parent's control pages is here to be read. */
  g_assert_cmpuint (arena_stats_get_units (stats), ==, 0);

  ends.reader = arena_storage_open_reader (storage, &error);
  g_assert_no_error (error);
  ends.writer = arena_storage_open_local_writer (storage, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 5; i++)
    {
      sent = arena_ends_send (&ends, 100, i);
      arena_ends_pass (&ends, &sent);
    }
  g_assert_true (arena_storage_close (storage, &error));
  return 0;
}

static void
test_child_uses_what_it_inherited (void)
{
  g_autoptr (ArenaStorage) storage = new_storage (2);

  arena_test_assert_child (use_in_child, storage);
}

static int
shut_down_in_child (gpointer storage)
{
  return arena_storage_shutdown (storage, NULL) && arena_storage_unlink (storage, NULL) && arena_storage_close (storage, NULL) ? 0 : 1;
}

static void
test_inert_child_changes_nothing (void)
{
  g_autoptr (ArenaStorage) storage = new_storage (2);
  g_auto (ArenaEnds) ends = { .storage = arena_storage_ref (storage) };
  g_autoptr (GError) error = NULL;
  ArenaSent sent;

  arena_test_assert_child (shut_down_in_child, storage);
  ends.reader = arena_storage_open_reader (storage, &error);
  g_assert_no_error (error);
  ends.writer = arena_storage_open_local_writer (storage, &error);
  g_assert_no_error (error);
  sent = arena_ends_send (&ends, 100, 1);
  arena_ends_pass (&ends, &sent);
}

/* Through a hello, as between two processes. */
static void
check_attached (guint count)
{
  g_autoptr (ArenaStorage) consumer = new_storage (count);
  g_autoptr (ArenaStorage) producer = NULL;
  g_autoptr (ArenaChannel) channel = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (ArenaEnds) ends = { 0 };
  int data_fd = -1;

  ends.reader = arena_storage_open_reader (consumer, &error);
  g_assert_no_error (error);
  g_assert_true (arena_channel_invite (consumer->channel, consumer->data_fd, &error));
  channel = arena_channel_attach (arena_channel_steal_remote (consumer->channel, &error), &data_fd, &error);
  g_assert_no_error (error);
  producer = arena_storage_new_attached (channel, data_fd, &error);
  g_assert_no_error (error);
  ends.writer = arena_storage_open_writer (producer, &error);
  g_assert_no_error (error);
  g_assert_null (arena_storage_open_writer (producer, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
  g_assert_true (arena_channel_answer (channel, &error));
  g_assert_true (arena_channel_accept (consumer->channel, &error));
  g_assert_no_error (error);

  for (guint i = 0; i < 50; i++)
    {
      ArenaSent sent = arena_ends_send (&ends, 1 + 80 * i, i);

      arena_ends_pass (&ends, &sent);
    }

  /* Either side's word ends the other's calls. */
  arena_storage_shutdown (consumer, NULL);
  g_assert_false (arena_writer_begin_unit (ends.writer, 1, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "The consumer");
}

static void
test_attached (void)
{
  check_attached (2);
  check_attached (0);
}

static void
test_bad_data_fd (void)
{
  g_autoptr (ArenaStorage) storage = new_storage (1);
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_storage_new_attached (storage->channel, -1, &error));
  g_assert_nonnull (error);
}

static void
test_peek (void)
{
  g_autoptr (ArenaRing) ring = arena_ring_new (64, NULL);
  g_autoptr (ArenaPool) empty = g_object_new (ARENA_TYPE_POOL, NULL);

  g_assert_nonnull (arena_backend_peek_storage (ARENA_BACKEND (ring)));
  g_assert_null (arena_backend_peek_storage (ARENA_BACKEND (empty)));
}

/* An attempt that failed for want of a descriptor can be repeated, by a writer here or by a producer elsewhere. */
static void
test_open_again (void)
{
  for (guint invited = 0; invited < 2; invited++)
    {
      g_autoptr (ArenaStorage) storage = new_storage (2);
      g_autoptr (ArenaWriter) writer = NULL;
      g_autoptr (GError) error = NULL;

      arena_test_refuse_fds (TRUE);
      g_assert_null (arena_storage_open_local_writer (storage, &error));
      arena_test_refuse_fds (FALSE);
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);

      if (invited == 0)
        writer = arena_storage_open_local_writer (storage, &error);
      else
        arena_channel_invite (storage->channel, storage->data_fd, &error);
      g_assert_no_error (error);
    }
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/storage/ends-in-any-order", test_ends_in_any_order);
  arena_test_add ("/arena/storage/closed-opens-nothing", test_closed_opens_nothing);
  arena_test_add ("/arena/storage/unlink-closes-one-descriptor", test_unlink_closes_one_fd);
  arena_test_add ("/arena/storage/each-end-opens-once", test_each_end_opens_once);
  arena_test_add ("/arena/storage/opened-in-one-process-only", test_claimed_once);
  arena_test_add ("/arena/storage/in-use-at-fork", test_in_use_at_fork);
  arena_test_add ("/arena/storage/read-only/claimed-once", test_read_only_claimed_once);
  arena_test_add ("/arena/storage/read-only/mapped-when-sealed", test_read_only);
  arena_test_add ("/arena/storage/child-uses-what-it-inherited", test_child_uses_what_it_inherited);
  arena_test_add ("/arena/storage/inert-child-changes-nothing", test_inert_child_changes_nothing);
  arena_test_add ("/arena/storage/attached-through-a-hello", test_attached);
  arena_test_add ("/arena/storage/bad-descriptor-is-an-error", test_bad_data_fd);
  arena_test_add ("/arena/storage/found-behind-a-backend", test_peek);
  arena_test_add ("/arena/storage/open-again", test_open_again);
  return g_test_run ();
}
