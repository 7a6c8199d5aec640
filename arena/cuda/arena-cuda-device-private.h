/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-context-private.h"

#include <pthread.h>
#include <stdatomic.h>

G_BEGIN_DECLS

typedef struct _ArenaPinnedCache ArenaPinnedCache;

/* What a context copies with: made when it is first needed, never freed. Any thread. */
typedef struct
{
  ArenaCudaContext *context;
  int               number;
  ArenaPinnedCache *staging;  /* for what isn't pinned */

  pthread_mutex_t   mutex;    /* over the lists, never held during a call of CUDA */
  GPtrArray        *idle_streams;
  GPtrArray        *idle_events;
  GQueue            kept;
  pthread_mutex_t   sweeping; /* one thread at a time asks what has ended */
} ArenaCudaDevice;

/* INVALID_STATE for a context that was constructed by hand, FORKED. */
ArenaCudaDevice *arena_cuda_device_get   (ArenaCudaContext       *context,
                                          GError                **error);
/* NULL where nobody has asked for it yet. */
ArenaCudaDevice *arena_cuda_device_peek  (ArenaCudaContext       *context);

/* As arena_cuda_scope_enter(). */
gboolean         arena_cuda_device_enter (const ArenaCudaDevice  *self,
                                          ArenaCudaScope         *scope,
                                          GError                **error);

G_END_DECLS
