/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* A writer without a boundary can't send outside of the arena, since the application's own queue carries no descriptors: it
 * says so instead of calling the field too large, in the saver's process and in the loader's. */

#define SIZE 4096

static void
check_writer (ArenaBackend *backend)
{
  g_autoptr(ArenaWriter) writer = arena_backend_open_writer (backend, NULL);
  g_autoptr(GBytes) bytes = g_bytes_new_take (g_malloc0 (SIZE + 1), SIZE + 1);
  g_autoptr(GError) error = NULL;
  ArenaOversize oversize;

  g_object_get (backend, "oversize", &oversize, NULL);
  g_assert_cmpint (oversize, ==, ARENA_OVERSIZE_SPILL);
  g_assert_false (arena_writer_begin_unit (writer, SIZE + 1, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "4097", "4096", "oversize=spill takes a producer");
  g_assert_true (arena_writer_begin_unit (writer, 0, 0, NULL, NULL));
  g_assert_false (arena_writer_write (writer, bytes, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "4097", "4096", "oversize=spill takes a producer");
  g_assert_null (arena_writer_reserve (writer, SIZE + 1, 0, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED);
  g_assert_true (arena_writer_abort_unit (writer, NULL));
}

static void
check (gboolean ring)
{
  g_autoptr(ArenaBackend) local = arena_test_spilling_new (ring, SIZE);
  g_autoptr(ArenaBackend) saved = arena_test_spilling_new (ring, SIZE);
  g_autoptr(ArenaBackend) loaded = g_object_new (ring ? ARENA_TYPE_RING : ARENA_TYPE_POOL, NULL);
  g_autoptr(GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr(GVariant) state = arena_backend_save (saved, fds, NULL);
  g_autoptr(GError) error = NULL;

  check_writer (local);
  arena_backend_load (loaded, state, fds, &error);
  g_assert_no_error (error);
  check_writer (loaded);
}

static void
test_pool (void)
{
  check (FALSE);
}

static void
test_ring (void)
{
  check (TRUE);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spilling-takes-a-boundary/pool", test_pool);
  arena_test_add ("/arena/spilling-takes-a-boundary/ring", test_ring);
  return g_test_run ();
}
