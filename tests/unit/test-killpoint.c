/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-killpoint-private.h"

#include "arena-test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every case runs in a child: the variables are read once per process. */

typedef struct
{
  const char *point; /* ARENA_KILL_POINT or NULL */
  const char *log;   /* ARENA_KILL_LOG or NULL */
  guint       n_threads;
  guint       n_passes; /* of each thread */
} Case;

static gpointer
pass_points (gpointer data)
{
  const Case *test_case = data;

  for (guint i = 0; i < test_case->n_passes; i++)
    {
      arena_kill_point (ARENA_KILL_BEFORE_PUBLISH);
      arena_kill_point (ARENA_KILL_AFTER_PUBLISH);
    }

  return NULL;
}

static int
run_case (gpointer data)
{
  const Case *test_case = data;
  GThread *threads[8];

  if (test_case->point != NULL)
    g_setenv ("ARENA_KILL_POINT", test_case->point, TRUE);
  if (test_case->log != NULL)
    g_setenv ("ARENA_KILL_LOG", test_case->log, TRUE);

  for (guint i = 0; i < test_case->n_threads; i++)
    threads[i] = g_thread_new ("passer", pass_points, data);
  for (guint i = 0; i < test_case->n_threads; i++)
    g_thread_join (threads[i]);

  return 0;
}

static void
assert_killed (const Case *test_case)
{
  int status = arena_test_run_child (run_case, (gpointer) test_case);

  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGKILL);
}

static void
assert_survives (const Case *test_case)
{
  arena_test_assert_child (run_case, (gpointer) test_case);
}

static void
test_nicks_are_unique (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < ARENA_N_KILL_POINTS; i++)
    {
      const char *nick = arena_kill_point_nick (i);

      g_assert_cmpuint (strspn (nick, "abcdefghijklmnopqrstuvwxyz-"), ==, strlen (nick));
      g_assert_cmpuint (strlen (nick), <, 32);
      g_assert_true (g_hash_table_add (seen, (gpointer) nick));
    }

  g_assert_cmpstr (arena_kill_point_nick (ARENA_KILL_BEFORE_HELLO), ==, "before-hello");
  g_assert_cmpstr (arena_kill_point_nick (ARENA_KILL_AFTER_END), ==, "after-end");
}

static void
test_unset_is_nothing (void)
{
  assert_survives (&(Case) { .n_threads = 4, .n_passes = 1000 });
  assert_survives (&(Case) { .point = "", .log = "", .n_threads = 1, .n_passes = 1000 });
}

static void
test_kills_at_the_count (void)
{
  assert_killed (&(Case) { .point = "before-publish:1", .n_threads = 1, .n_passes = 1 });
  assert_killed (&(Case) { .point = "after-publish:10", .n_threads = 1, .n_passes = 10 });
  assert_survives (&(Case) { .point = "after-publish:11", .n_threads = 1, .n_passes = 10 });
  assert_survives (&(Case) { .point = "after-map:1", .n_threads = 1, .n_passes = 10 });
}

/* "after-publish" must not match "after-publish-wake" or the other way round. */
static void
test_nicks_match_whole (void)
{
  assert_survives (&(Case) { .point = "after-publish-wake:1", .n_threads = 1, .n_passes = 10 });
  assert_killed (&(Case) { .point = "after-publish:1", .n_threads = 1, .n_passes = 10 });
}

static void
test_threads_are_counted_together (void)
{
  assert_killed (&(Case) { .point = "before-publish:4000", .n_threads = 4, .n_passes = 1000 });
  assert_survives (&(Case) { .point = "before-publish:4001", .n_threads = 4, .n_passes = 1000 });
}

/* Static, so that a child which leaves in the middle is no leak to valgrind. */
static char *log_folder;
static char *log_path;

static void
log_new (void)
{
  log_folder = arena_test_temp_dir_new ();
  log_path = g_build_filename (log_folder, "log", NULL);
}

static void
log_free (void)
{
  g_clear_pointer (&log_path, g_free);
  g_clear_pointer (&log_folder, arena_test_temp_dir_free);
}

static void
assert_log (const char *pattern)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  g_file_get_contents (log_path, &text, NULL, &error);
  g_assert_no_error (error);
  if (!g_regex_match_simple (pattern, text, G_REGEX_ANCHORED | G_REGEX_DOLLAR_ENDONLY, 0))
    g_error ("the log \"%s\" is not \"%s\"", text, pattern);
}

static void
test_log_has_each_point_once (void)
{
  log_new ();
  assert_survives (&(Case) { .log = log_path, .n_threads = 1, .n_passes = 100 });
  assert_log ("before-publish\nafter-publish\n$");

  /* A second process appends, and its threads may come in any order. */
  assert_survives (&(Case) { .log = log_path, .n_threads = 8, .n_passes = 100 });
  assert_log ("before-publish\nafter-publish\n(before-publish\nafter-publish\n|after-publish\nbefore-publish\n)$");
  log_free ();
}

static void
test_the_last_point_is_logged (void)
{
  log_new ();
  assert_killed (&(Case) { .point = "after-publish:1", .log = log_path, .n_threads = 1, .n_passes = 9 });
  assert_log ("before-publish\nafter-publish\n$");
  log_free ();
}

static void
test_a_log_that_cannot_be_written_is_no_harm (void)
{
  assert_survives (&(Case) { .log = "/nonexistent/folder/log", .n_threads = 1, .n_passes = 10 });
}

static int
reload_in_child (gpointer data)
{
  arena_kill_point (ARENA_KILL_AFTER_END);
  g_setenv ("ARENA_KILL_POINT", "after-end:2", TRUE);
  arena_kill_point (ARENA_KILL_AFTER_END);
  arena_kill_point (ARENA_KILL_AFTER_END);
  arena_kill_point_reload ();
  arena_kill_point (ARENA_KILL_AFTER_END);
  if (data == NULL)
    arena_kill_point (ARENA_KILL_AFTER_END);
  return 3;
}

static void
test_reload_counts_anew (void)
{
  int status = arena_test_run_child (reload_in_child, NULL);

  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGKILL);
  status = arena_test_run_child (reload_in_child, GINT_TO_POINTER (1));
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 3);
}

static int
pass_with_wrong_point (gpointer data)
{
  int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  /* The message would end the TAP output of this program. */
  dup2 (null, STDOUT_FILENO);
  dup2 (null, STDERR_FILENO);
  g_setenv ("ARENA_KILL_POINT", data, TRUE);
  arena_kill_point (ARENA_KILL_BEFORE_HELLO);
  return 0;
}

/* A typing error in a test must not make it pass. */
static void
test_an_unknown_point_aborts (void)
{
  const char *const wrong[] = {
    "after-publsh:1", "after-publish", "after-publish:", "after-publish:0", "after-publish:-1", "after-publish:1x",
    ":1", "after:1", "after-publish :1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      int status = arena_test_run_child (pass_with_wrong_point, (gpointer) wrong[i]);

      g_assert_true (WIFSIGNALED (status));
      g_assert_cmpint (WTERMSIG (status), !=, SIGKILL);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/killpoint/nicks-are-unique", test_nicks_are_unique);
  arena_test_add ("/arena/killpoint/unset-is-nothing", test_unset_is_nothing);
  arena_test_add ("/arena/killpoint/kills-at-the-count", test_kills_at_the_count);
  arena_test_add ("/arena/killpoint/nicks-match-whole", test_nicks_match_whole);
  arena_test_add ("/arena/killpoint/threads-are-counted-together", test_threads_are_counted_together);
  arena_test_add ("/arena/killpoint/log-has-each-point-once", test_log_has_each_point_once);
  arena_test_add ("/arena/killpoint/the-last-point-is-logged", test_the_last_point_is_logged);
  arena_test_add ("/arena/killpoint/a-log-that-cannot-be-written-is-no-harm", test_a_log_that_cannot_be_written_is_no_harm);
  arena_test_add ("/arena/killpoint/reload-counts-anew", test_reload_counts_anew);
  arena_test_add ("/arena/killpoint/an-unknown-point-aborts", test_an_unknown_point_aborts);
  return g_test_run ();
}
