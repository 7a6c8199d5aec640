/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-harness.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUICK_RUNS 7
#define FULL_RUNS  11
#define FULL_SCALE 4

BenchSettings bench_settings;

static GString *json;
static cpu_set_t allowed; /* at the start */

void
bench_init (gboolean quick)
{
  bench_settings.quick = quick;
  bench_settings.n_runs = quick ? QUICK_RUNS : FULL_RUNS;
  if (sched_getaffinity (0, sizeof allowed, &allowed) != 0)
    bench_fail ("sched_getaffinity: %s", g_strerror (errno));

  for (int cpu = 0; cpu < CPU_SETSIZE && bench_settings.n_cpus < G_N_ELEMENTS (bench_settings.cpus); cpu++)
    if (CPU_ISSET (cpu, &allowed))
      bench_settings.cpus[bench_settings.n_cpus++] = cpu;
}

guint64
bench_scale (guint64 n_quick)
{
  return bench_settings.quick ? n_quick : FULL_SCALE * n_quick;
}

void
bench_pin (BenchSide side)
{
  cpu_set_t one;

  CPU_ZERO (&one);
  CPU_SET (bench_settings.cpus[side], &one);
  if (sched_setaffinity (0, sizeof one, &one) != 0)
    bench_fail ("sched_setaffinity: %s", g_strerror (errno));
}

void
bench_unpin (void)
{
  if (sched_setaffinity (0, sizeof allowed, &allowed) != 0)
    bench_fail ("sched_setaffinity: %s", g_strerror (errno));
}

gint64
bench_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

void
bench_fail (const char *format,
            ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("arena-bench: %s\n", text);
  exit (1);
}

void
bench_check_error (const GError *error,
                   const char   *what)
{
  if (error != NULL)
    bench_fail ("%s: %s", what, error->message);
}

void
bench_series_init (BenchSeries *self,
                   const char  *key,
                   BenchKind    kind)
{
  *self = (BenchSeries) { .key = key, .kind = kind };
}

void
bench_series_add (BenchSeries *self,
                  double       ours,
                  double       base)
{
  g_assert (self->n < BENCH_MAX_RUNS);

  self->ours[self->n] = ours;
  self->base[self->n] = base;
  self->n++;
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double x = *(const double *) a;
  double y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Sorts. */
static double
median (double *values,
        guint   n)
{
  qsort (values, n, sizeof *values, compare);
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void
put (const char *key,
     const char *suffix,
     double      value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (json == NULL)
    json = g_string_new (NULL);
  g_string_append_printf (json, "%s  \"%s%s\": %s", json->len > 0 ? ",\n" : "", key, suffix,
                          !isnan (value) ? g_ascii_formatd (text, sizeof text, "%.6g", value) : "null");
}

void
bench_print_header (void)
{
  g_print ("%-32s %9s %12s %12s %3s %7s\n", "", "ratio", "ours, ns", "base, ns", "n", "spread");
  put ("n_cpus", "", bench_settings.n_cpus);
  put ("quick", "", bench_settings.quick);
}

void
bench_series_print (BenchSeries *self)
{
  double ratios[BENCH_MAX_RUNS];
  double middle, spread, ours, base;

  for (guint i = 0; i < self->n; i++)
    ratios[i] = self->kind == BENCH_ALONE   ? self->ours[i]
                : self->kind == BENCH_SPEED ? self->base[i] / self->ours[i]
                                            : self->ours[i] / self->base[i];

  middle = median (ratios, self->n);
  spread = middle > 0 ? (ratios[self->n - 1] - ratios[0]) / middle : 0;
  put (self->key, "", middle);
  if (self->kind == BENCH_ALONE)
    g_print ("%-32s %9.4g %12s %12s %3u %6.0f%%\n", self->key, middle, "", "", self->n, 100 * spread);
  else
    {
      ours = median (self->ours, self->n);
      base = median (self->base, self->n);
      g_print ("%-32s %9.3f %12.1f %12.1f %3u %6.0f%%\n", self->key, middle, ours, base, self->n, 100 * spread);
      put (self->key, "_ns", ours);
      put (self->key, "_base_ns", base);
    }

  put (self->key, "_n", self->n);
  put (self->key, "_spread", spread);
}

void
bench_print_null (const char *key,
                  const char *why)
{
  g_print ("%-32s %9s %s\n", key, "-", why);
  put (key, "", (double) NAN);
}

gboolean
bench_write_json (const char *path)
{
  g_autofree char *text = g_strdup_printf ("{\n%s\n}\n", json != NULL ? json->str : "");
  g_autoptr (GError) error = NULL;

  if (g_file_set_contents (path, text, -1, &error))
    return TRUE;

  bench_check_error (error, path);
  return FALSE;
}
