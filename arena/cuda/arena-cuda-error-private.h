/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-error.h"

G_BEGIN_DECLS

/* What a status of CUDA means for the caller; @fallback for one that says nothing by itself. */
ArenaCudaError arena_cuda_error_from_status (int              status,
                                             ArenaCudaError   fallback);
/* Every later call will fail as well: the device's context is gone. */
gboolean       arena_cuda_error_is_sticky   (int              status);

/* What a person can do about it: the end of a message. */
const char    *arena_cuda_error_get_advice  (ArenaCudaError   code);

/* A failure of what was done because of the first: appended to it, or the first if there was none. Takes @second, which
 * may be NULL. */
void           arena_cuda_error_append      (GError         **error,
                                             GError          *second);

G_END_DECLS
