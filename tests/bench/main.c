/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-figures.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const BenchFigure *const figures[] = {
  &bench_line,
  &bench_pool,
  &bench_cold,
  &bench_public,
  &bench_ring,
  &bench_core,
  &bench_wake,
  &bench_unit,
  &bench_syscalls,
  &bench_create,
  &bench_small,
  &bench_stream,
  &bench_field,
  &bench_portable,
};

static void
print_nulls (const BenchFigure *figure)
{
  for (guint i = 0; i < G_N_ELEMENTS (figure->keys) && figure->keys[i] != NULL; i++)
    bench_print_null (figure->keys[i], "needs 2 CPUs");
}

static void
measure_all (const char *only)
{
  gboolean found = FALSE;

  bench_print_header ();
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      if (only != NULL && strcmp (only, figures[i]->name) != 0)
        continue;

      found = TRUE;
      if (bench_settings.n_cpus < 2)
        print_nulls (figures[i]);
      else
        figures[i]->measure ();
    }

  if (!found)
    bench_fail ("there is no figure \"%s\"", only);
}

/* --work FIGURE CPU SIZE */
static int
work (char **arguments)
{
  bench_settings.cpus[BENCH_PRODUCER] = atoi (arguments[1]);
  bench_pin (BENCH_PRODUCER);
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (arguments[0], figures[i]->name) == 0)
      {
        figures[i]->work ((gsize) g_ascii_strtoull (arguments[2], NULL, 10));
        return 0;
      }

  return 2;
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *json = NULL;
  g_autofree char *only = NULL;
  gboolean quick = FALSE;
  gint64 load = 0;
  const GOptionEntry options[] = {
    { "quick", 0, 0, G_OPTION_ARG_NONE, &quick, "Fewer and shorter runs", NULL },
    { "json", 0, 0, G_OPTION_ARG_FILENAME, &json, "Write the results to FILE", "FILE" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only, "Measure just this figure", "FIGURE" },
    { "load", 0, 0, G_OPTION_ARG_INT64, &load, "Only send units, for a counter outside", "UNITS" },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("- measures the library against what is below it");
  g_autoptr (GError) error = NULL;

  if (argc == 5 && strcmp (argv[1], "--work") == 0)
    return work (argv + 2);

  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    bench_fail ("%s", error->message);

  bench_init (quick);
  if (bench_settings.n_cpus >= 2)
    bench_pin (BENCH_CONSUMER);
  if (load > 0)
    bench_syscalls_load ((guint64) load);
  else
    measure_all (only);

  return json == NULL || bench_write_json (json) ? 0 : 1;
}
