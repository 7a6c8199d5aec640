/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-boundary.h"
#include "bench-figures.h"

#include <string.h>
#include <unistd.h>

/* System calls per unit while both sides are busy: units of 64 KiB through a pool of 64 segments and the public API, read
 * whole by the consumer. A counter outside counts every system call of both processes, once with 1,000 units and once with
 * 11,000; the difference is divided by 10,000. perf counts without stopping anybody. strace, where perf can't, stops a
 * process twice for each call; meanwhile the other one waits too long and sleeps as well, so one call makes several. */

#define SIZE        (64 << 10)
#define N_SEGMENTS  64
#define BUFFER_SIZE 62
#define N_FEW       1000
#define N_MANY      11000
#define N_RUNS      5

void
bench_syscalls_load (guint64 n_units)
{
  g_autoptr (GError) error = NULL;
  BenchBoundary boundary;
  ArenaPool *pool;

  pool = arena_pool_new (SIZE, N_SEGMENTS, &error);
  bench_check_error (error, "arena_pool_new");
  bench_boundary_open (&boundary, ARENA_BACKEND (pool), BUFFER_SIZE, "syscalls", SIZE, NULL, 0);
  bench_boundary_receive (&boundary, BENCH_OURS, n_units, BENCH_READ);
  bench_boundary_close (&boundary);
}

/* The calls in "600,,raw_syscalls:sys_enter,..."; 0 where perf couldn't count. */
static guint64
parse_perf (const char *text)
{
  const char *event = strstr (text, ",raw_syscalls:sys_enter");

  while (event != NULL && event > text && event[-1] != '\n')
    event--;
  return event != NULL ? g_ascii_strtoull (event, NULL, 10) : 0;
}

/* The calls in the last line, "100.00 0.001 2 345 total" with or without a column of errors before the last word. */
static guint64
parse_strace (const char *text)
{
  const char *line = g_strrstr (text, "100.00");
  g_auto (GStrv) words = line != NULL ? g_strsplit_set (line, " \n", -1) : NULL;
  guint n = 0;

  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    if (words[i][0] != '\0' && ++n == 4)
      return g_ascii_strtoull (words[i], NULL, 10);

  return 0;
}

typedef struct
{
  const char *argv[8];
  guint64   (*parse) (const char *text);
} Counter;

/* Each writes to the file whose name comes next. */
static const Counter counters[] = {
  { { "perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o" }, parse_perf },
  { { "strace", "-f", "-c", "-o" }, parse_strace },
};

/* 0 where @counter can't. */
static guint64
count_with (const Counter *counter,
            guint64        n_units)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *number = g_strdup_printf ("%" G_GUINT64_FORMAT, n_units);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *report = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  int fd = g_file_open_tmp ("arena-bench-XXXXXX", &report, &error);
  int status = 1;

  bench_check_error (error, "a temporary file");
  close (fd);
  for (guint i = 0; counter->argv[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer) counter->argv[i]);
  g_ptr_array_add (argv, report);
  g_ptr_array_add (argv, program);
  g_ptr_array_add (argv, (gpointer) "--load");
  g_ptr_array_add (argv, number);
  g_ptr_array_add (argv, NULL);

  if (!g_spawn_sync (NULL, (char **) argv->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                     NULL, NULL, &status, NULL) ||
      status != 0 || !g_file_get_contents (report, &text, NULL, NULL))
    g_clear_pointer (&text, g_free);
  unlink (report);
  return text != NULL ? counter->parse (text) : 0;
}

static void
measure (void)
{
  const char *key = "syscalls_per_unit_busy";
  const Counter *counter = counters;
  BenchSeries series;

  bench_unpin ();
  while (counter < counters + G_N_ELEMENTS (counters) && count_with (counter, 1) == 0)
    counter++;
  if (counter == counters + G_N_ELEMENTS (counters))
    {
      bench_print_null (key, "needs perf or strace");
      bench_pin (BENCH_CONSUMER);
      return;
    }

  bench_series_init (&series, key, BENCH_ALONE);
  for (guint i = 0; i < N_RUNS; i++)
    {
      double few = (double) count_with (counter, N_FEW);
      double many = (double) count_with (counter, N_MANY);

      bench_series_add (&series, (many - few) / (N_MANY - N_FEW), 0);
    }

  bench_series_print (&series);
  bench_pin (BENCH_CONSUMER);
}

static void
work (gsize size)
{
  BenchSender sender;
  BenchOrder order;

  bench_sender_init (&sender, size);
  while (bench_work_next (&order))
    bench_sender_send (&sender, &order);
  bench_sender_clear (&sender);
}

const BenchFigure bench_syscalls = {
  .name = "syscalls",
  .measure = measure,
  .work = work,
  .keys = { "syscalls_per_unit_busy" },
};
