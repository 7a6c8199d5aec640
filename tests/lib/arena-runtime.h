/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-runtime-private.h"

G_BEGIN_DECLS

/* A CUDA runtime of a few functions, for code that needs no more; tests/fake-cudart has all of them. It has two devices,
 * and keeps the state of a thread for all. */
typedef struct
{
  int   device;
  int   capture_mode;
  int   last_error;
  int   refuse_mode;  /* whether exchanging the capture mode fails */
  guint n_registered; /* ranges */
  guint refuse_from;  /* from that many on, registering fails */
} ArenaTestRuntime;

extern ArenaTestRuntime arena_test_runtime;

const ArenaCudaRuntime *arena_test_runtime_get  (void);
/* What a function of it that isn't here would return, if it failed. */
int                     arena_test_runtime_fail (int status);

G_END_DECLS
