/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The worker of the process tests: worker units=N size=S at=PLACE do=ACTION
 *
 * Serves every iteration with N units of S bytes. Once, on reaching PLACE (start: before it attaches; attached; item:K:
 * before that item of an iteration; stand-by: after the first iteration), it does ACTION: exit:N, abort, kill, print,
 * close-streams, wait, wait-stubbornly, malformed-answer, fail, hang-up, leave-child, interrupt. */

typedef enum
{
  PLACE_NONE,
  PLACE_START,
  PLACE_ATTACHED,
  PLACE_ITEM,
  PLACE_STAND_BY,
} Place;

static struct
{
  ArenaTestSeries series;
  Place           place;
  guint           item;
  const char     *action;
  ArenaProducer  *producer;
} self = { .series = { .n_units = 1, .size = 4096 }, .action = "" };

static void
print_megabyte (int fd)
{
  char line[64];

  memset (line, '.', sizeof line);
  line[sizeof line - 1] = '\n';
  for (guint i = 0; i < (1 << 20) / sizeof line; i++)
    if (write (fd, line, sizeof line) != (gssize) sizeof line)
      abort ();
}

static void
close_streams (void)
{
  close (STDIN_FILENO);
  close (STDOUT_FILENO);
  close (STDERR_FILENO);
}

/* Leaves, and leaves a child behind that holds everything this process has, for longer than any test waits. */
static void
leave_child (void)
{
  if (fork () == 0)
    {
      close_streams (); /* or a test's reader would wait for this one */
      alarm (5);
      pause ();
    }
  exit (0);
}

static void
answer_garbage (void)
{
  int fd = atoi (g_getenv ("ARENA_WORKER_FD"));
  char garbage[24] = "this is not an answer";

  if (send (fd, garbage, sizeof garbage, 0) < 0)
    abort ();
  /* Until the consumer is gone. */
  pause ();
}

static void
fail (void)
{
  arena_producer_fail (self.producer, "test.Failure", "the item is bad", "in line 1\nin line 2", self.item, NULL);
}

static void
kill_itself (void)
{
  kill (getpid (), SIGKILL);
}

static void
interrupt_itself (void)
{
  kill (getpid (), SIGINT);
}

static void
print (void)
{
  print_megabyte (STDOUT_FILENO);
  print_megabyte (STDERR_FILENO);
}

static void
wait_for_ever (void)
{
  pause ();
}

static void
wait_stubbornly (void)
{
  signal (SIGTERM, SIG_IGN);
  for (;;)
    pause ();
}

static void
hang_up (void)
{
  g_clear_object (&self.producer);
  pause ();
}

static const struct
{
  const char *name;
  void      (*func) (void);
} actions[] = {
  { "abort", abort },
  { "close-streams", close_streams },
  { "fail", fail },
  { "hang-up", hang_up },
  { "interrupt", interrupt_itself },
  { "kill", kill_itself },
  { "leave-child", leave_child },
  { "malformed-answer", answer_garbage },
  { "print", print },
  { "wait", wait_for_ever },
  { "wait-stubbornly", wait_stubbornly },
};

static void
act (void)
{
  self.place = PLACE_NONE;
  if (g_str_has_prefix (self.action, "exit:"))
    exit (atoi (self.action + strlen ("exit:")));

  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    if (g_str_equal (self.action, actions[i].name))
      {
        actions[i].func ();
        return;
      }

  g_error ("unknown action “%s”", self.action);
}

static void
reach (Place place,
       guint item)
{
  if (self.place == place && (place != PLACE_ITEM || self.item == item))
    act ();
}

static void
parse (int    argc,
       char **argv)
{
  for (int i = 1; i < argc; i++)
    {
      g_auto(GStrv) pair = g_strsplit (argv[i], "=", 2);

      if (g_str_equal (pair[0], "units"))
        self.series.n_units = (guint) atoi (pair[1]);
      else if (g_str_equal (pair[0], "size"))
        self.series.size = (gsize) atol (pair[1]);
      else if (g_str_equal (pair[0], "do"))
        self.action = argv[i] + strlen ("do=");
      else if (g_str_has_prefix (argv[i], "at=item:"))
        self.place = PLACE_ITEM, self.item = (guint) atoi (pair[1] + strlen ("item:"));
      else if (g_str_equal (argv[i], "at=start"))
        self.place = PLACE_START;
      else if (g_str_equal (argv[i], "at=attached"))
        self.place = PLACE_ATTACHED;
      else if (g_str_equal (argv[i], "at=stand-by"))
        self.place = PLACE_STAND_BY;
      else
        g_error ("unknown argument “%s”", argv[i]);
    }
}

static void
serve_iteration (void)
{
  for (guint i = 0; i < self.series.n_units; i++)
    {
      reach (PLACE_ITEM, i);
      if (!self.producer->running || !arena_test_send (self.producer, self.series.size, -1, NULL))
        break;
    }

  if (self.producer->running)
    arena_producer_finish_iteration (self.producer, NULL);
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;

  /* Where a test fails, nobody ends what waits here for ever. */
  alarm (60);
  parse (argc, argv);
  reach (PLACE_START, 0);
  self.producer = arena_producer_new_from_environment (&error);
  if (self.producer == NULL)
    {
      g_printerr ("worker: %s\n", error->message);
      return 99;
    }

  reach (PLACE_ATTACHED, 0);
  while (arena_producer_wait_iteration (self.producer, -1, NULL, NULL, &error))
    {
      serve_iteration ();
      reach (PLACE_STAND_BY, 0);
    }

  g_object_unref (self.producer);
  return error != NULL ? 98 : 0;
}
