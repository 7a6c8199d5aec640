/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-device-private.h"

G_BEGIN_DECLS

/* Streams and events of a device, inside a scope. None is ever destroyed: a stream may still have work, and a handle is
 * used again. */

/* The calling thread's own stream. When the thread ends, another inherits it. NULL on error. */
ArenaCudaStream arena_cuda_stream_get        (ArenaCudaDevice  *device,
                                              ArenaCudaScope   *scope,
                                              GError          **error);
/* The thread's next get makes another one: it isn't known what this one still does. */
void            arena_cuda_stream_drop       (ArenaCudaDevice  *device);
/* It is known again. */
void            arena_cuda_stream_give_back  (ArenaCudaDevice  *device,
                                              ArenaCudaStream   stream);

/* Waits until @stream has done all that it was given. TRUE: that is proven, though there may be an error that was pending
 * there, perhaps somebody else's; so CUDA is asked once more after one. FALSE: nothing is known, QUARANTINED or as CUDA
 * says. */
gboolean        arena_cuda_stream_drain      (ArenaCudaScope   *scope,
                                              ArenaCudaStream   stream,
                                              GError          **error);

/* An event that marks all that @stream has been given so far. NULL on error. */
ArenaCudaEvent  arena_cuda_event_record      (ArenaCudaDevice  *device,
                                              ArenaCudaScope   *scope,
                                              ArenaCudaStream   stream,
                                              GError          **error);
void            arena_cuda_event_give_back   (ArenaCudaDevice  *device,
                                              ArenaCudaEvent    event);

/* What @stream is given from here on waits for what @others have been given so far. */
gboolean        arena_cuda_stream_order      (ArenaCudaDevice  *device,
                                              ArenaCudaScope   *scope,
                                              ArenaCudaStream   stream,
                                              const guint64    *others,
                                              gsize             n_others,
                                              GError          **error);

G_END_DECLS
