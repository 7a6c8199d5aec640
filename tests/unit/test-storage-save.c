/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "backend/arena-pool.h"
#include "backend/arena-reader.h"
#include "backend/arena-ring.h"
#include "backend/arena-writer.h"
#include "base/arena-error.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writer and reader without a boundary. Both are in this process, but for the test that kills one of them: the
 * handshake is the same. */

#define SIZE 5000

typedef struct
{
  ArenaBackend *saved, *loaded;
  ArenaReader *reader;
  ArenaWriter *writer;
} Ends;

static ArenaBackend *
create (gboolean ring)
{
  ArenaBackend *arena = ring ? (ArenaBackend *) arena_ring_new (4 * SIZE, NULL)
                             : (ArenaBackend *) arena_pool_new (SIZE, 3, NULL);

  g_assert_nonnull (arena);
  return arena;
}

static void
open_ends (Ends     *ends,
           gboolean  ring)
{
  g_autoptr(GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr(GVariant) state = NULL;
  g_autoptr(GError) error = NULL;

  ends->saved = create (ring);
  ends->reader = arena_backend_open_reader (ends->saved, &error);
  g_assert_no_error (error);
  state = arena_backend_save (ends->saved, fds, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_unix_fd_list_get_length (fds), >=, 1);
  ends->loaded = g_object_new (ring ? ARENA_TYPE_RING : ARENA_TYPE_POOL, NULL);
  arena_backend_load (ends->loaded, state, fds, &error);
  g_assert_no_error (error);
  ends->writer = arena_backend_open_writer (ends->loaded, &error);
  g_assert_no_error (error);
  g_assert_true (arena_writer_start_epoch (ends->writer, 1, NULL));
}

static void
clear_ends (Ends *ends)
{
  g_clear_object (&ends->writer);
  g_clear_object (&ends->reader);
  g_clear_object (&ends->loaded);
  g_clear_object (&ends->saved);
}

static gboolean
write_unit (ArenaWriter  *writer,
            guint64       seed,
            guint64      *span,
            guint64      *offset,
            GError      **error)
{
  g_autofree guint8 *data = g_malloc (SIZE);
  g_autoptr(GBytes) bytes = NULL;

  arena_test_fill_pattern (data, SIZE, seed);
  bytes = g_bytes_new_static (data, SIZE);
  return arena_writer_begin_unit (writer, SIZE, 0, NULL, error) && arena_writer_write (writer, bytes, offset, error) &&
         arena_writer_commit_unit (writer, span, error);
}

static void
check_unit (ArenaReader *reader,
            guint64      seed,
            guint64      span,
            guint64      offset)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = arena_reader_read (reader, span, offset, SIZE, &error);

  g_assert_no_error (error);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (bytes, NULL), SIZE, seed));
  g_assert_true (arena_reader_end_unit (reader, span, NULL));
}

static void
test_round_trip (void)
{
  for (guint ring = 0; ring < 2; ring++)
    {
      ArenaTestResources resources;
      guint64 span, offset;
      Ends ends;

      arena_test_resources_begin (&resources);
      open_ends (&ends, ring);
      for (guint i = 0; i < 20; i++)
        {
          g_assert_true (write_unit (ends.writer, i, &span, &offset, NULL));
          check_unit (ends.reader, i, span, offset);
        }
      clear_ends (&ends);
      arena_test_resources_end (&resources);
    }
}

static void
test_sizes_are_those_of_the_saved (void)
{
  Ends ends;

  open_ends (&ends, FALSE);
  g_assert_cmpuint (arena_pool_get_segment_size (ARENA_POOL (ends.loaded)), ==, SIZE);
  g_assert_cmpuint (arena_pool_get_count (ARENA_POOL (ends.loaded)), ==, 3);
  clear_ends (&ends);
  open_ends (&ends, TRUE);
  g_assert_cmpuint (arena_ring_get_capacity (ARENA_RING (ends.loaded)), ==, 4 * SIZE);
  clear_ends (&ends);
}

static void
test_rules_are_those_of_the_saved (void)
{
  g_autoptr(GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr(ArenaPool) loaded = g_object_new (ARENA_TYPE_POOL, NULL);
  g_autoptr(ArenaBackend) saved = NULL;
  g_autoptr(GVariant) state = NULL;
  g_autoptr(GError) error = NULL;

  saved = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) SIZE, "count", 3, "reuse",
                          ARENA_REUSE_ANY, "read-only", TRUE, NULL);
  g_assert_no_error (error);
  state = arena_backend_save (saved, fds, &error);
  g_assert_no_error (error);
  arena_backend_load (ARENA_BACKEND (loaded), state, fds, &error);
  g_assert_no_error (error);
  g_assert_cmpint (arena_pool_get_reuse (loaded), ==, ARENA_REUSE_ANY);
  g_assert_true (arena_pool_get_read_only (loaded));
}

/* What the application's queue lost, or handed over out of order. */
static void
test_unread_units (void)
{
  for (guint ring = 0; ring < 2; ring++)
    {
      guint64 span[3], offset[3];
      g_autoptr(GError) error = NULL;
      Ends ends;

      open_ends (&ends, ring);
      for (guint i = 0; i < 3; i++)
        g_assert_true (write_unit (ends.writer, i, &span[i], &offset[i], NULL));
      check_unit (ends.reader, 1, span[1], offset[1]);
      g_assert_null (arena_reader_read (ends.reader, span[0], offset[0], SIZE, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);

      /* Discarded: ended without a read. */
      g_assert_true (arena_reader_end_unit (ends.reader, span[2], NULL));
      for (guint i = 0; i < 3; i++)
        g_assert_true (write_unit (ends.writer, i, &span[i], &offset[i], NULL));
      clear_ends (&ends);
    }
}

static gboolean
save_fails (ArenaBackend  *arena,
            GError       **error)
{
  g_autoptr(GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr(GVariant) state = arena_backend_save (arena, fds, error);

  return state == NULL && g_unix_fd_list_get_length (fds) == 0;
}

static void
test_save_refuses (void)
{
  g_autoptr(ArenaBackend) unlinked = create (FALSE);
  g_autoptr(ArenaBackend) closed = create (TRUE);
  g_autoptr(ArenaBackend) local = create (FALSE);
  g_autoptr(ArenaWriter) writer = arena_backend_open_writer (local, NULL);
  g_autoptr(ArenaBackend) bare = g_object_new (ARENA_TYPE_POOL, NULL);
  g_autoptr(GError) error = NULL;
  Ends ends;

  g_assert_nonnull (writer);
  open_ends (&ends, FALSE);
  g_assert_true (save_fails (ends.saved, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "create a new arena");
  g_assert_true (save_fails (ends.loaded, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "was loaded");
  g_assert_null (arena_backend_open_reader (ends.loaded, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "was loaded");
  g_assert_null (arena_backend_open_writer (ends.saved, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
  clear_ends (&ends);

  g_assert_true (save_fails (local, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
  g_assert_true (arena_backend_unlink (unlinked, NULL));
  g_assert_true (save_fails (unlinked, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED, "unlinked");
  g_assert_true (arena_backend_close (closed, NULL));
  g_assert_true (save_fails (closed, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_CLOSED);
  g_assert_true (save_fails (bare, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

static void
assert_not_loaded (const char  *text,
                   GUnixFDList *fds)
{
  g_autoptr(ArenaBackend) fresh = g_object_new (ARENA_TYPE_POOL, NULL);
  g_autoptr(GVariant) state = g_variant_ref_sink (g_variant_new_parsed (text));
  g_autoptr(GError) error = NULL;

  g_assert_false (arena_backend_load (fresh, state, fds, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "saved state");
  g_assert_null (arena_backend_open_writer (fresh, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE);
}

static void
test_load_refuses (void)
{
  g_autoptr(GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr(ArenaBackend) pool = create (FALSE);
  g_autoptr(ArenaBackend) ring = g_object_new (ARENA_TYPE_RING, NULL);
  g_autoptr(ArenaBackend) fresh = g_object_new (ARENA_TYPE_POOL, NULL);
  g_autoptr(GVariant) state = NULL;
  g_autoptr(GError) error = NULL;

  assert_not_loaded ("5", fds);
  assert_not_loaded ("@a{sv} {}", fds);
  assert_not_loaded ("{'kind': <'ring'>}", fds);
  assert_not_loaded ("{'kind': <'pool'>}", fds);
  assert_not_loaded ("{'kind': <'pool'>, 'socket': <handle 0>}", fds);
  assert_not_loaded ("{'kind': <'pool'>, 'socket': <handle -1>}", fds);
  assert_not_loaded ("{'kind': <'pool'>, 'socket': <0>}", fds);

  state = arena_backend_save (pool, fds, NULL);
  g_assert_false (arena_backend_load (ring, state, fds, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "another kind");
  g_assert_false (arena_backend_load (pool, state, fds, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE, "already");

  /* The saver is gone. Its list has the only other end of the socket, and not its own. */
  g_clear_object (&pool);
  if (arena_backend_load (fresh, state, fds, &error))
    {
      g_autoptr(ArenaWriter) writer = arena_backend_open_writer (fresh, NULL);

      g_assert_false (arena_writer_begin_unit (writer, 1, 0, NULL, &error));
    }
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
}

static void
test_reader_gone (void)
{
  g_autoptr(GError) error = NULL;
  guint64 span, offset;
  Ends ends;

  open_ends (&ends, FALSE);
  for (guint i = 0; i < 3; i++)
    g_assert_true (write_unit (ends.writer, i, &span, &offset, NULL));
  g_clear_object (&ends.reader);
  g_clear_object (&ends.saved);
  g_assert_false (arena_writer_begin_unit (ends.writer, SIZE, -1, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  clear_ends (&ends);
}

typedef struct
{
  GVariant *state;
  GUnixFDList *fds;
  int pipe[2];
} Child;

static int
load_write_and_die (gpointer data)
{
  Child *child = data;
  ArenaBackend *pool = g_object_new (ARENA_TYPE_POOL, NULL);
  ArenaWriter *writer;
  guint64 words[2];

  if (!arena_backend_load (pool, child->state, child->fds, NULL))
    return 1;
  writer = arena_backend_open_writer (pool, NULL);
  if (writer == NULL || !arena_writer_start_epoch (writer, 1, NULL) ||
      !write_unit (writer, 9, &words[0], &words[1], NULL) ||
      write (child->pipe[1], words, sizeof words) != sizeof words)
    return 2;
  kill (getpid (), SIGKILL);
  return 3;
}

/* What a writer has handed over outlives it; the next iteration is where its death shows. */
static void
test_writer_killed (void)
{
  g_autoptr(ArenaBackend) pool = create (FALSE);
  g_autoptr(ArenaReader) reader = arena_backend_open_reader (pool, NULL);
  Child child = { .fds = g_unix_fd_list_new () };
  g_autoptr(GError) error = NULL;
  guint64 words[2];
  pid_t pid;
  int status;

  g_assert_cmpint (pipe (child.pipe), ==, 0);
  child.state = arena_backend_save (pool, child.fds, NULL);
  g_assert_true (arena_reader_enter_epoch (reader, 1, NULL));
  pid = arena_test_start_child (load_write_and_die, &child);
  g_clear_object (&child.fds);
  g_assert_cmpint (read (child.pipe[0], words, sizeof words), ==, sizeof words);
  status = arena_test_wait_child (pid);
  g_assert_true (WIFSIGNALED (status));
  check_unit (reader, 9, words[0], words[1]);
  g_assert_false (arena_reader_enter_epoch (reader, 2, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE);
  g_variant_unref (child.state);
  close (child.pipe[0]);
  close (child.pipe[1]);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/storage/save/round-trip", test_round_trip);
  arena_test_add ("/arena/storage/save/sizes-are-those-of-the-saved", test_sizes_are_those_of_the_saved);
  arena_test_add ("/arena/storage/save/rules-are-those-of-the-saved", test_rules_are_those_of_the_saved);
  arena_test_add ("/arena/storage/save/unread-units", test_unread_units);
  arena_test_add ("/arena/storage/save/refuses", test_save_refuses);
  arena_test_add ("/arena/storage/load/refuses", test_load_refuses);
  arena_test_add ("/arena/storage/save/reader-gone", test_reader_gone);
  arena_test_add ("/arena/storage/save/writer-killed", test_writer_killed);
  return g_test_run ();
}
