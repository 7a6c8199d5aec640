/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The test's side of a pair. It sees processes end in three ways: a fifo hangs up when the victim's descriptors are
 * closed, a pipe when the last of both is gone, and as a subreaper it inherits, and must reap, whatever outlives its
 * parent. Nothing here names a process but by a number that has not been reaped. */

#define PATIENCE_US      (20 * G_USEC_PER_SEC)
#define NOTICE_US        G_USEC_PER_SEC
#define NOTICE_PER_MB_US 300

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWNESS 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOWNESS 10
#endif
#endif
#ifndef SLOWNESS
#define SLOWNESS 1
#endif

guint
arena_test_slowness (void)
{
  return arena_test_on_valgrind () ? 10 : SLOWNESS;
}

void
arena_test_assert_no_names (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/dev/shm", 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (strstr (name, "arena") != NULL)
      g_error ("/dev/shm/%s is left", name);
}

static void
spawn (ArenaTestPair *self,
       const char    *point,
       int            report_fd)
{
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "process", "pair-consumer", NULL);
  g_autofree char *log = g_build_filename (self->dir, "consumer", NULL);
  const char *const argv[] = { program, self->text, NULL };
  const char *const variables[] = { "ARENA_KILL_POINT", "ARENA_TEST_PRODUCER_KILL_POINT" };
  g_auto (GStrv) env = g_environ_setenv (g_get_environ (), "ARENA_TEST_PAIR_DIR", self->dir, TRUE);
  g_autoptr (GError) error = NULL;

  env = g_environ_setenv (env, "ARENA_KILL_LOG", log, TRUE);
  if (point != NULL)
    env = g_environ_setenv (env, variables[self->plan.victim], point, TRUE);

  g_spawn_async_with_pipes_and_fds (NULL, argv, (const char *const *) env, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                    -1, report_fd, -1, NULL, NULL, 0, &self->consumer, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

ArenaTestPair *
arena_test_pair_new (const ArenaTestPlan *plan,
                     const char          *point)
{
  ArenaTestPair *self = g_new0 (ArenaTestPair, 1);
  g_autofree char *life = NULL;
  int report[2];

  self->plan = *plan;
  self->text = arena_test_plan_to_text (plan);
  self->dir = arena_test_temp_dir_new ();
  self->progress = arena_test_progress_map (self->dir);

  life = g_build_filename (self->dir, "life", NULL);
  g_assert_no_errno (mkfifo (life, 0600));
  self->life_fd = open (life, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  g_assert_no_errno (self->life_fd);

  g_assert_no_errno (prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  g_assert_no_errno (pipe2 (report, O_CLOEXEC));
  self->report_fd = report[0];
  spawn (self, point, report[1]);
  close (report[1]);
  return self;
}

void
arena_test_pair_kill (ArenaTestPair *self,
                      ArenaTestSide  side,
                      int            signal_number)
{
  pid_t pid = side == ARENA_TEST_CONSUMER ? self->consumer : (pid_t) atomic_load (&self->progress->pid[side]);

  g_assert_cmpint (pid, >, 0);
  if (signal_number == SIGKILL)
    self->died_at = g_get_monotonic_time ();
  kill (pid, signal_number);
}

/* Also the way out of a test that has failed, so that it leaves no process behind. */
static void G_GNUC_NORETURN
give_up (ArenaTestPair *self,
         const char    *why)
{
  gint64 producer = atomic_load (&self->progress->pid[ARENA_TEST_PRODUCER]);

  kill (self->consumer, SIGKILL);
  if (producer > 0)
    kill ((pid_t) producer, SIGKILL);

  g_error ("%s; plan: %s; committed %" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT ", ended %" G_GUINT64_FORMAT "+%"
           G_GUINT64_FORMAT "; taken %" G_GUINT64_FORMAT ", ends %" G_GUINT64_FORMAT "; consumer's status %d, %u orphans, "
           "producer's status %d; noticed after %" G_GINT64_FORMAT " us", why, self->text,
           atomic_load (&self->progress->committed), atomic_load (&self->progress->committing),
           atomic_load (&self->progress->ended), atomic_load (&self->progress->ending),
           atomic_load (&self->progress->taken), atomic_load (&self->progress->ends), self->consumer_status,
           self->n_orphans, self->producer_status, arena_test_pair_notice (self));
}

static void
wait_for_reports (ArenaTestPair *self,
                  gint64         deadline)
{
  struct pollfd fds[] = { { .fd = self->report_fd, .events = POLLIN }, { .fd = self->life_fd } };

  /* Descriptors of one process are not closed at one moment, so each end is waited for; unless it has been killed from
   * here, perhaps before it had opened the fifo. */
  if (self->plan.victim >= ARENA_TEST_N_SIDES || self->died_at != 0)
    fds[1].fd = -1;
  while (fds[0].fd >= 0 || fds[1].fd >= 0)
    {
      gint64 remaining = deadline - g_get_monotonic_time ();
      char text[512];

      if (remaining <= 0)
        give_up (self, "it was still running when its time was up");

      if (poll (fds, G_N_ELEMENTS (fds), (int) (remaining / 1000 + 1)) < 0)
        continue;

      if ((fds[1].revents & POLLHUP) != 0)
        {
          self->died_at = g_get_monotonic_time ();
          fds[1].fd = -1;
        }

      if (fds[0].revents != 0 && read (self->report_fd, text, sizeof text) == 0)
        fds[0].fd = -1;
    }
}

static void
reap_all (ArenaTestPair *self,
          gint64         deadline)
{
  for (;;)
    {
      int status;
      pid_t pid = waitpid (-1, &status, WNOHANG);

      if (pid < 0 && errno == ECHILD)
        return;
      if (pid == self->consumer)
        self->consumer_status = status;
      else if (pid > 0)
        {
          self->producer_status = status;
          self->n_orphans++;
        }
      else if (g_get_monotonic_time () > deadline)
        give_up (self, "a process is left");
      else
        g_usleep (200);
    }
}

void
arena_test_pair_wait (ArenaTestPair *self)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE_US * arena_test_slowness ();

  wait_for_reports (self, deadline);
  reap_all (self, deadline);
}

gint64
arena_test_pair_notice (ArenaTestPair *self)
{
  ArenaTestSide survivor = self->plan.victim == ARENA_TEST_CONSUMER ? ARENA_TEST_PRODUCER : ARENA_TEST_CONSUMER;

  return atomic_load (&self->progress->gone_at[survivor]) - self->died_at;
}

static void
check_notice (ArenaTestPair *self)
{
  guint64 megabytes = (arena_test_plan_unit_size (&self->plan) * self->plan.room) >> 20;
  gint64 limit = (NOTICE_US + (gint64) megabytes * NOTICE_PER_MB_US) * arena_test_slowness ();

  if (arena_test_pair_notice (self) > limit)
    give_up (self, "the notice came too late");
}

/* The survivor is the consumer: it got every unit and every end that was published, and no other. Where it is known
 * where the producer died, it is known which these are. */
static void
check_prefix (ArenaTestPair  *self,
              ArenaKillPoint  point)
{
  const ArenaTestProgress *progress = self->progress;
  gboolean published = point == ARENA_KILL_AFTER_PUBLISH || point == ARENA_KILL_AFTER_PUBLISH_WAKE;
  gboolean anywhere = point == ARENA_N_KILL_POINTS;
  guint64 units = atomic_load (&progress->committed);
  guint64 ends = atomic_load (&progress->ended);
  guint64 more_units = published || anywhere ? atomic_load (&progress->committing) : 0;
  guint64 more_ends = published || anywhere || point == ARENA_KILL_AFTER_END ? atomic_load (&progress->ending) : 0;
  guint64 missed_units = units + more_units - atomic_load (&progress->taken);
  guint64 missed_ends = ends + more_ends - atomic_load (&progress->ends);

  if (missed_units > (anywhere ? more_units : 0))
    give_up (self, "the units received are not those published");
  if (missed_ends > (anywhere ? more_ends : 0))
    give_up (self, "the ends received are not those published");
}

/* The survivor is the producer: it can't have gone on for longer than the queue had room. */
static void
check_excess (ArenaTestPair *self)
{
  guint64 taken = atomic_load (&self->progress->taken);
  guint64 limit = taken + self->plan.buffer_size + 1 + (self->plan.stops ? self->plan.n_units : 0);

  if (atomic_load (&self->progress->committed) > limit)
    give_up (self, "the producer went on without a consumer");
}

void
arena_test_pair_check (ArenaTestPair  *self,
                       ArenaKillPoint  point)
{
  arena_test_assert_no_names ();
  if (self->plan.victim == ARENA_TEST_N_SIDES)
    {
      if (self->consumer_status != 0 || self->n_orphans != 0)
        give_up (self, "it did not end well");
      return;
    }

  if (self->plan.victim == ARENA_TEST_PRODUCER)
    {
      if (self->consumer_status != 0 || self->n_orphans != 0)
        give_up (self, "the consumer did not end well");
      check_prefix (self, point);
    }
  else
    {
      if (!WIFSIGNALED (self->consumer_status) || WTERMSIG (self->consumer_status) != SIGKILL)
        give_up (self, "the consumer was not killed");
      if (self->n_orphans > 1 || self->producer_status != 0)
        give_up (self, "the producer did not end well");
      check_excess (self);
    }

  check_notice (self);
}

gboolean
arena_test_pair_passed (ArenaTestPair  *self,
                        ArenaTestSide   side,
                        ArenaKillPoint  point)
{
  g_autofree char *path = g_build_filename (self->dir, side == ARENA_TEST_CONSUMER ? "consumer" : "producer", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;

  lines = g_strsplit (text, "\n", -1);
  return g_strv_contains ((const char *const *) lines, arena_kill_point_nick (point));
}

void
arena_test_pair_free (ArenaTestPair *self)
{
  munmap (self->progress, sizeof *self->progress);
  close (self->report_fd);
  close (self->life_fd);
  arena_test_temp_dir_free (self->dir);
  g_free (self->text);
  g_free (self);
}
