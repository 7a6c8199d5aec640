/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "bench-peer.h"

G_BEGIN_DECLS

/* A figure: measure() runs in the process that was started by hand and prints; work(), if there is one, is what the
 * processes it starts do. Doc comments in each file say exactly what is compared. */
typedef struct
{
  const char *name;
  void      (*measure) (void);
  void      (*work)    (gsize size);
  const char *keys[4];
} BenchFigure;

extern const BenchFigure bench_cold;
extern const BenchFigure bench_core;
extern const BenchFigure bench_create;
extern const BenchFigure bench_field;
extern const BenchFigure bench_line;
extern const BenchFigure bench_pool;
extern const BenchFigure bench_portable;
extern const BenchFigure bench_public;
extern const BenchFigure bench_ring;
extern const BenchFigure bench_small;
extern const BenchFigure bench_stream;
extern const BenchFigure bench_syscalls;
extern const BenchFigure bench_unit;
extern const BenchFigure bench_wake;

/* syscalls: sends and reads @n_units, for somebody who counts what this process does. */
void bench_syscalls_load (guint64 n_units);

G_END_DECLS
