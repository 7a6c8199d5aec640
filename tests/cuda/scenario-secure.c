/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program that has more rights than its user opens no library that the user names. Only root can make one here. */

#define NOBODY 65534

static char *
run_program (const char *path)
{
  const char *const argv[] = { path, "path", NULL };
  g_autoptr(GError) error = NULL;
  char *output = NULL;
  int status;

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, &error));
  g_assert_cmpint (status, ==, 0);
  return output;
}

static void
test_user (void)
{
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "cuda", "scenario-consumer", NULL);
  g_autofree char *expected = g_strdup_printf ("secure=0 %s\n", g_getenv ("ARENA_CUDART"));
  g_autofree char *output = run_program (program);

  g_assert_cmpstr (output, ==, expected);
}

static void
test_secure (void)
{
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "cuda", "scenario-consumer", NULL);
  char *folder = arena_test_temp_dir_new ();
  g_autofree char *copy = g_build_filename (folder, "program", NULL);
  g_autofree char *content = NULL;
  g_autofree char *output = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (program, &content, &size, NULL));
  g_assert_true (g_file_set_contents (copy, content, (gssize) size, NULL));
  if (geteuid () == 0 && chmod (folder, 0755) == 0 && chown (copy, NOBODY, NOBODY) == 0 && chmod (copy, 04755) == 0)
    {
      output = run_program (copy);
      /* On a file system without such programs it is one like any other. */
      if (g_str_has_prefix (output, "secure=1 "))
        g_assert_null (strstr (output, g_getenv ("ARENA_CUDART")));
    }
  arena_test_temp_dir_free (folder);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda/scenario-07-override-of-a-user", test_user);
  arena_test_add ("/arena/cuda/scenario-07-override-of-a-secure-program", test_secure);
  return g_test_run ();
}
