/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-compat-private.h"

#include <fcntl.h>

static int
open_one (void)
{
  int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static gboolean
is_open (int fd)
{
  return fcntl (fd, F_GETFD) >= 0;
}

static void
test_autofd (void)
{
  int seen;

  errno = EXDEV;
  {
    g_autofd int fd = open_one ();
    g_autofd int unused G_GNUC_UNUSED = -1;

    seen = fd;
    errno = EXDEV;
  }
  g_assert_cmpint (errno, ==, EXDEV);
  g_assert_false (is_open (seen));
}

static void
test_steal (void)
{
  int stolen;

  {
    g_autofd int fd = open_one ();

    stolen = g_steal_fd (&fd);
    g_assert_cmpint (fd, ==, -1);
  }
  g_assert_true (is_open (stolen));
  g_assert_true (g_clear_fd (&stolen, NULL));
}

static void
test_clear (void)
{
  g_autoptr (GError) error = NULL;
  int fd = open_one ();
  int seen = fd;

  g_assert_true (g_clear_fd (&fd, &error));
  g_assert_no_error (error);
  g_assert_cmpint (fd, ==, -1);
  g_assert_false (is_open (seen));
  g_assert_true (g_clear_fd (&fd, &error));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/compat/autofd-closes-and-keeps-errno", test_autofd);
  arena_test_add ("/arena/compat/stolen-fd-stays-open", test_steal);
  arena_test_add ("/arena/compat/clear-fd", test_clear);
  return g_test_run ();
}
