/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-compat-private.h"
#include "base/arena-error.h"
#include "memory/arena-memfd-private.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a peer may send in place of a memory file of the size it said. */

static int
make_memfd (guint64 size,
            int     seals)
{
  int fd = memfd_create ("arena-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  g_assert_no_errno (ftruncate (fd, (off_t) size));
  g_assert_no_errno (fcntl (fd, F_ADD_SEALS, seals));
  return fd;
}

static void
assert_foul (int         fd,
             guint64     size,
             int         seals,
             const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (arena_memfd_check (fd, size, (guint) seals, "data", &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "data: ", text);
}

static void
test_own (void)
{
  g_autoptr (GError) error = NULL;
  g_autofd int fd = arena_memfd_new ("arena-test", 8192, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (arena_memfd_check (fd, 8192, F_SEAL_SHRINK | F_SEAL_GROW, "data", &error));
  g_assert_no_error (error);
}

/* Newer kernels set seals of their own. */
static void
test_more_seals (void)
{
  g_autoptr (GError) error = NULL;
  g_autofd int fd = make_memfd (8192, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);

  g_assert_true (arena_memfd_check (fd, 8192, F_SEAL_SEAL, "data", &error));
  g_assert_no_error (error);
}

static void
test_size (void)
{
  const guint64 sizes[] = { 0, 1, 4096, 8191, 8193, 1 << 20, G_MAXUINT64 };
  g_autofd int fd = make_memfd (8192, F_SEAL_SHRINK | F_SEAL_GROW);

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *text = g_strdup_printf ("8192 bytes instead of %" G_GUINT64_FORMAT, sizes[i]);

      assert_foul (fd, sizes[i], F_SEAL_SHRINK, text);
    }
}

/* Without SHRINK and GROW the size means nothing, asked for or not. */
static void
test_seals (void)
{
  const struct { int have, want; const char *text; } rows[] = {
    { 0, F_SEAL_SHRINK | F_SEAL_GROW, "lack 0x6" },
    { 0, 0, "lack 0x6" },
    { F_SEAL_SHRINK, 0, "lack 0x4" },
    { F_SEAL_GROW, 0, "lack 0x2" },
    { F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_FUTURE_WRITE, "seals 0x6 lack 0x10" },
    { F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL, "lack 0x1" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofd int fd = make_memfd (4096, rows[i].have);

      assert_foul (fd, 4096, rows[i].want, rows[i].text);
    }
}

static void
test_other_files (void)
{
  char *folder = arena_test_temp_dir_new ();
  g_autofree char *path = g_build_filename (folder, "file", NULL);
  g_autofd int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  g_autofd int file = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int ends[2];

  g_assert_no_errno (ftruncate (file, 4096));
  g_assert_no_errno (pipe2 (ends, O_CLOEXEC));
  assert_foul (-1, 4096, 0, "not a memory file");
  assert_foul (null, 0, 0, "not a memory file");
  assert_foul (ends[0], 0, 0, "not a memory file");
  /* Where this folder is a tmpfs, the file has one seal, but not these. */
  assert_foul (file, 4096, 0, "");

  close (ends[0]);
  close (ends[1]);
  arena_test_temp_dir_free (folder);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/memfd-check/own-passes", test_own);
  arena_test_add ("/arena/memfd-check/more-seals-pass", test_more_seals);
  arena_test_add ("/arena/memfd-check/size-is-exact", test_size);
  arena_test_add ("/arena/memfd-check/seals-are-required", test_seals);
  arena_test_add ("/arena/memfd-check/other-files-are-refused", test_other_files);
  return g_test_run ();
}
