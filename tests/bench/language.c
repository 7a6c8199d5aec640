/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-figures.h"

#include <arena.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A consumer in Python or JavaScript and a producer in C: microseconds per unit, all of them, in the consumer's loop over a
 * worker from a tenth of an iteration to its end. In each unit of "field" is one field of 1024 uint32, and the loop makes
 * an array of it, adds its items up, compares the sum, and lets the unit go. A unit of "portable" has that field and a
 * value: a dictionary of a number, a text, a list of four numbers and the field; the loop makes all of that, compares all of
 * it and the sum. Nothing is taken off: neither the adding up nor JavaScript's collections. The producer is faster.
 *
 * language.py and language.js are the loops. */

#define N_ITEMS 1024
#define CANNOT  77 /* a script's exit status; it has printed why */

typedef struct
{
  const char *key;
  const char *script;
  const char *argv[3]; /* what starts it; NULL: not here */
} Language;

static void
set_up_environment (char **environment[])
{
  const char *variables[][2] = {
    { "GI_TYPELIB_PATH", BENCH_BUILD_ROOT "/gir" },
    { "GJS_PATH", BENCH_SOURCE_ROOT "/bindings/gjs" },
    { "LD_LIBRARY_PATH", BENCH_BUILD_ROOT "/arena" },
    { "PYTHONDONTWRITEBYTECODE", "1" },
    { "PYTHONPATH", BENCH_SOURCE_ROOT "/bindings/python" },
  };

  *environment = g_get_environ ();
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    *environment = g_environ_setenv (*environment, variables[i][0], variables[i][1], TRUE);
}

/* Its output: a line for each run. NULL where it can't run here; @why is then set. */
static char *
run_script (const Language  *language,
            const char      *kind,
            guint64          n_units,
            char           **why)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *settings[] = {
    g_strdup_printf ("%d", bench_settings.cpus[BENCH_PRODUCER]),
    g_strdup_printf ("%" G_GUINT64_FORMAT, n_units),
    g_strdup_printf ("%u", bench_settings.n_runs),
  };
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_auto (GStrv) environment = NULL;
  g_autofree char *output = NULL;
  g_autofree char *errors = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  for (guint i = 0; language->argv[i] != NULL; i++)
    g_ptr_array_add (argv, (gpointer) language->argv[i]);
  g_ptr_array_add (argv, (gpointer) language->script);
  g_ptr_array_add (argv, (gpointer) kind);
  g_ptr_array_add (argv, program);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    g_ptr_array_add (argv, settings[i]);
  g_ptr_array_add (argv, NULL);

  set_up_environment (&environment);
  if (!g_spawn_sync (NULL, (char **) argv->pdata, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors, &status,
                     &error))
    {
      *why = g_strdup (error->message);
      return NULL;
    }

  if (WIFEXITED (status) && WEXITSTATUS (status) == CANNOT)
    {
      *why = g_strdup (g_strchomp (output));
      return NULL;
    }

  if (status != 0)
    bench_fail ("%s %s: %s", language->script, kind, errors);
  return g_steal_pointer (&output);
}

static void
measure_language (const Language *language,
                  const char     *kind,
                  guint64         n_units)
{
  g_autofree char *why = NULL;
  g_autofree char *output = NULL;
  g_auto (GStrv) lines = NULL;
  BenchSeries series;

  if (language->argv[0] == NULL)
    {
      bench_print_null (language->key, "needs gi and a build with introspection");
      return;
    }

  output = run_script (language, kind, n_units, &why);
  if (output == NULL)
    {
      bench_print_null (language->key, why);
      return;
    }

  lines = g_strsplit (g_strchomp (output), "\n", -1);
  bench_series_init (&series, language->key, BENCH_ALONE);
  for (guint i = 0; lines[i] != NULL; i++)
    bench_series_add (&series, g_ascii_strtod (lines[i], NULL), 0);
  if (series.n != bench_settings.n_runs)
    bench_fail ("%s %s: %u runs", language->script, kind, series.n);
  bench_series_print (&series);
}

static void
measure_field (void)
{
  const Language languages[] = {
    { "py_field_us", BENCH_LOOP_PY, { BENCH_PYTHON } },
    { "gjs_field_us", BENCH_LOOP_JS, { BENCH_GJS } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (languages); i++)
    measure_language (&languages[i], "field", bench_scale (2000));
}

static void
measure_portable (void)
{
  const Language languages[] = {
    { "py_portable_us", BENCH_LOOP_PY, { BENCH_PYTHON } },
    { "gjs_portable_us", BENCH_LOOP_JS, { BENCH_GJS } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (languages); i++)
    measure_language (&languages[i], "portable", bench_scale (300));
}

static GVariant *
make_value (guint64 number)
{
  const gint32 labels[] = { (gint32) number, 2, 3, 4 };
  GVariantDict dictionary;

  g_variant_dict_init (&dictionary, NULL);
  g_variant_dict_insert (&dictionary, "id", "t", number);
  g_variant_dict_insert (&dictionary, "name", "s", "batch");
  g_variant_dict_insert_value (&dictionary, "labels",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_INT32, labels, G_N_ELEMENTS (labels), 4));
  g_variant_dict_insert_value (&dictionary, "x", g_variant_new_handle (0));
  return g_variant_dict_end (&dictionary);
}

/* Item k of unit i is i + k. */
static void
send_unit (ArenaProducer  *producer,
           guint64         i,
           gboolean        portable,
           GError        **error)
{
  const guint64 shape[] = { N_ITEMS };
  ArenaUnitBuilder *builder = arena_producer_begin_unit (producer, N_ITEMS * sizeof (guint32), -1, NULL, error);
  guint32 items[N_ITEMS];

  for (guint k = 0; k < N_ITEMS; k++)
    items[k] = (guint32) i + k;
  if (builder == NULL ||
      arena_unit_builder_append_address (builder, "x", ARENA_DTYPE_UINT32, shape, 1, (guint64) GPOINTER_TO_SIZE (items),
                                         sizeof items, NULL, 0, error) < 0 ||
      (portable && !arena_unit_builder_set_value (builder, make_value (i), error)))
    return;

  arena_unit_builder_commit (builder, error);
}

/* Every iteration is @n_units long. */
static void
serve (guint64  n_units,
       gboolean portable)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaProducer) producer = arena_producer_new_from_environment (&error);

  bench_check_error (error, "arena_producer_new_from_environment");
  while (arena_producer_wait_iteration (producer, -1, NULL, NULL, &error))
    {
      for (guint64 i = 0; i < n_units; i++)
        {
          send_unit (producer, i, portable, &error);
          bench_check_error (error, "sending a unit");
        }

      arena_producer_finish_iteration (producer, &error);
      bench_check_error (error, "arena_producer_finish_iteration");
    }
}

static void
work_field (gsize n_units)
{
  serve (n_units, FALSE);
}

static void
work_portable (gsize n_units)
{
  serve (n_units, TRUE);
}

const BenchFigure bench_field = {
  .name = "field",
  .measure = measure_field,
  .work = work_field,
  .keys = { "py_field_us", "gjs_field_us" },
};

const BenchFigure bench_portable = {
  .name = "portable",
  .measure = measure_portable,
  .work = work_portable,
  .keys = { "py_portable_us", "gjs_portable_us" },
};
