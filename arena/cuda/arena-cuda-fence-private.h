/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-device-private.h"

G_BEGIN_DECLS

/* What has to be proven before something may be used again: that some streams have done what they had been given when the
 * fence was made. The only proofs are that CUDA says so of an event recorded then, or of the whole stream. An error of any
 * kind proves nothing. One thread at a time, inside a scope. */
typedef struct _ArenaCudaFence ArenaCudaFence;

/* Never fails: a stream in which no event can be recorded is asked itself. So are all without a @scope. */
ArenaCudaFence *arena_cuda_fence_new  (ArenaCudaDevice  *device,
                                       ArenaCudaScope   *scope,
                                       const guint64    *streams,
                                       gsize             n_streams) G_GNUC_WARN_UNUSED_RESULT;
/* TRUE: all is proven. FALSE without an error: not yet. */
gboolean        arena_cuda_fence_poll (ArenaCudaFence   *self,
                                       ArenaCudaScope   *scope,
                                       GError          **error);
void            arena_cuda_fence_free (ArenaCudaFence   *self);

G_END_DECLS
