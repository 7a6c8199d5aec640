/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Protocol 5.6: a worker keeps its standard streams, and what it prints there can't disturb the iteration. */
static void
test_prints (void)
{
  g_autofree char *folder = arena_test_temp_dir_new ();
  g_autofree char *path = g_build_filename (folder, "output", NULL);
  int file = open (path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int out = dup (STDOUT_FILENO);
  int err = dup (STDERR_FILENO);
  ArenaWorker *worker;
  struct stat info;

  dup2 (file, STDOUT_FILENO);
  dup2 (file, STDERR_FILENO);
  worker = arena_test_worker_new (arena_test_pool_new (4096, 4), 2, "units=6", "at=item:3", "do=print", NULL);
  dup2 (out, STDOUT_FILENO);
  dup2 (err, STDERR_FILENO);
  close (out);
  close (err);

  arena_test_receive (ARENA_CONSUMER (worker), 6, 4096);
  arena_test_assert_end (ARENA_CONSUMER (worker));
  arena_test_close (ARENA_CONSUMER (worker), NULL);

  g_assert_no_errno (fstat (file, &info));
  g_assert_cmpint (info.st_size, ==, 2 << 20);
  close (file);
  arena_test_temp_dir_free (g_steal_pointer (&folder));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/worker/prints-a-megabyte", test_prints);
  return g_test_run ();
}
