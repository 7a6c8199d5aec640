/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error.h"
#include "memory/arena-memfd-private.h"
#include "memory/arena-spill-file-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE 5000

static guint64
file_size (const ArenaSpillFile *file)
{
  struct stat info;

  g_assert_no_errno (fstat (file->fd, &info));
  return (guint64) info.st_size;
}

static void
assert_piece (const ArenaSpillFile *file,
              guint64               offset,
              guint64               seed)
{
  guint8 data[PIECE];

  g_assert_cmpint (pread (file->fd, data, sizeof data, (off_t) offset), ==, PIECE);
  g_assert_true (arena_test_check_pattern (data, sizeof data, seed));
}

/* Pieces lie one behind the other, each at a multiple of 64, however they come. */
static void
test_pieces (void)
{
  g_auto (ArenaSpillFile) file;
  guint8 data[PIECE];
  guint64 offsets[4];

  arena_spill_file_init (&file);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GError) error = NULL;
      gboolean added;

      arena_test_fill_pattern (data, sizeof data, i);
      added = i % 2 == 0 ? arena_spill_file_append (&file, data, PIECE, &offsets[i], &error)
                         : arena_spill_file_reserve (&file, PIECE, &offsets[i], &error);
      g_assert_no_error (error);
      g_assert_true (added);
      g_assert_cmpuint (offsets[i], ==, i * 5056);
      g_assert_cmpuint (file.end, ==, i * 5056 + PIECE);
      g_assert_cmpuint (file_size (&file), ==, file.end);
      if (i % 2 == 1)
        g_assert_true (arena_spill_file_fill (&file, offsets[i], data, PIECE, NULL));
    }

  for (guint i = 0; i < 4; i++)
    assert_piece (&file, offsets[i], i);
}

/* Neither the size nor a byte can be changed any more, by nobody. */
static void
test_sealed_for_good (void)
{
  g_auto (ArenaSpillFile) file;
  g_autoptr (GError) error = NULL;
  guint64 offset;

  arena_spill_file_init (&file);
  g_assert_true (arena_spill_file_append (&file, "abc", 3, &offset, NULL));
  g_assert_true (arena_spill_file_seal (&file, &error));
  g_assert_no_error (error);
  g_assert_true (arena_memfd_check (file.fd, 3, arena_spill_file_seals (), "file", NULL));
  g_assert_cmpint (ftruncate (file.fd, 2), ==, -1);
  g_assert_cmpint (pwrite (file.fd, "x", 1, 0), ==, -1);
  g_assert_cmpint (fallocate (file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1), ==, -1);
  g_assert_true (mmap (NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0) == MAP_FAILED);
  g_assert_cmpint (fcntl (file.fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), ==, -1);
  g_assert_false (arena_spill_file_append (&file, "abc", 3, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "write");
  g_assert_cmpuint (file.end, ==, 3);
}

static void
set_file_limit (guint64 limit)
{
  const struct rlimit limits = { limit, limit };

  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limits));
}

/* The limit would kill by a signal; it goes for all pieces together. */
static int
meet_limit (gpointer data G_GNUC_UNUSED)
{
  g_auto (ArenaSpillFile) file;
  g_autoptr (GError) error = NULL;
  guint8 bytes[PIECE] = { 0 };
  guint64 offset;

  arena_spill_file_init (&file);
  set_file_limit (2 * PIECE);
  g_assert_true (arena_spill_file_append (&file, bytes, PIECE, &offset, &error));
  g_assert_false (arena_spill_file_append (&file, bytes, PIECE, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "10056 bytes", "RLIMIT_FSIZE", "10000");
  g_assert_false (arena_spill_file_reserve (&file, PIECE, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_FSIZE");
  g_assert_cmpuint (file_size (&file), ==, PIECE);
  g_assert_true (arena_spill_file_append (&file, bytes, 100, &offset, &error));
  g_assert_cmpuint (offset, ==, 5056);
  return 0;
}

static void
test_limit (void)
{
  arena_test_assert_child (meet_limit, NULL);
}

/* What a refused call has done is undone; a file with nothing in it is none. */
static int
refuse_calls (gpointer data)
{
  const int *number = data;
  g_auto (ArenaSpillFile) file;
  g_autoptr (GError) error = NULL;
  guint64 offset;

  arena_spill_file_init (&file);
  arena_test_refuse_syscall (*number, 0, 0, 0, ENOSPC);
  g_assert_false (*number == SYS_fallocate ? arena_spill_file_reserve (&file, PIECE, &offset, &error)
                                           : arena_spill_file_append (&file, "abc", 3, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, *number == SYS_memfd_create ? "memfd_create" : " of ");
  g_assert_cmpint (file.fd, ==, -1);
  g_assert_cmpuint (file.end, ==, 0);
  return 0;
}

static void
test_refused (void)
{
  static int numbers[] = { SYS_memfd_create, SYS_pwrite64, SYS_fallocate };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    arena_test_assert_child (refuse_calls, &numbers[i]);
}

static void
test_absurd (void)
{
  g_auto (ArenaSpillFile) file;
  g_autoptr (GError) error = NULL;
  guint64 offset;

  arena_spill_file_init (&file);
  g_assert_true (arena_spill_file_append (&file, "abc", 3, &offset, NULL));
  g_assert_false (arena_spill_file_reserve (&file, G_MAXSIZE, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "after 3");
  g_assert_false (arena_spill_file_reserve (&file, (gsize) 1 << 60, &offset, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE);
  arena_spill_file_clear (&file);
  g_assert_cmpint (file.fd, ==, -1);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/spill-file/pieces-follow-one-another", test_pieces);
  arena_test_add ("/arena/spill-file/sealed-for-good", test_sealed_for_good);
  arena_test_add ("/arena/spill-file/limit-is-named", test_limit);
  arena_test_add ("/arena/spill-file/refused-calls-leave-nothing", test_refused);
  arena_test_add ("/arena/spill-file/absurd-sizes", test_absurd);
  return g_test_run ();
}
