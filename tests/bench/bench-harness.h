/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What every figure shares. A figure is a ratio of two times taken in the same run: ours, the base, ours, the base, and
 * so on, each side on a CPU of its own. A program that measures has nobody to report to, so whatever fails ends it. */

#define BENCH_MAX_RUNS 32

typedef enum
{
  BENCH_CONSUMER = 0, /* the process that was started by hand */
  BENCH_PRODUCER = 1,
} BenchSide;

typedef struct
{
  gboolean quick;
  guint    n_runs;  /* of each kind */
  guint    n_cpus;  /* that this process may use; below 2 there is nothing to measure */
  int      cpus[2]; /* of the two sides */
} BenchSettings;

extern BenchSettings bench_settings;

void     bench_init        (gboolean       quick);
/* What is wanted of a quick run and of a full one, which takes @size times longer. */
guint64  bench_scale       (guint64        n_quick);
void     bench_pin         (BenchSide      side);
void     bench_unpin       (void); /* what is started next may use every CPU */
gint64   bench_now         (void); /* ns, the same clock in every process */

void     bench_fail        (const char    *format,
                            ...) G_GNUC_PRINTF (1, 2) G_GNUC_NORETURN;
/* Fails where @error is set. */
void     bench_check_error (const GError  *error,
                            const char    *what);

typedef enum
{
  BENCH_SPEED, /* base time / our time: above 1 is faster than the base */
  BENCH_TIME,  /* our time / base time: below 1 is faster */
  BENCH_ALONE, /* our number, without a base */
} BenchKind;

/* The results of one key. */
typedef struct
{
  const char *key;
  BenchKind   kind;
  guint       n;
  double      ours[BENCH_MAX_RUNS]; /* ns per unit */
  double      base[BENCH_MAX_RUNS];
} BenchSeries;

void     bench_series_init  (BenchSeries   *self,
                             const char    *key,
                             BenchKind      kind);
void     bench_series_add   (BenchSeries   *self,
                             double         ours,
                             double         base);
/* One line of the table, and the fields of the key: K is the median of the ratios; K_ns and K_base_ns are medians too. */
void     bench_series_print (BenchSeries   *self);
/* The key could not be measured: null. */
void     bench_print_null   (const char    *key,
                             const char    *why);

void     bench_print_header (void);
gboolean bench_write_json   (const char    *path);

G_END_DECLS
