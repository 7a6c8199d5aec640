/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-pin-private.h"

G_BEGIN_DECLS

/* What is still registered and shouldn't be: mappings whose last reference was dropped, perhaps in a finalizer, where CUDA
 * must not be called; and those whose unregistering failed. Any thread. */

/* For arena_mapping_set_retire(): unmaps at once where nothing is registered, else only notes it. */
void     arena_cuda_retire         (ArenaMapping  *mapping);
/* Notes one that could not be unregistered, and takes that back where it was in the end. Its caller has the mapping. */
void     arena_cuda_retire_note    (ArenaCudaPin  *pin);
void     arena_cuda_retire_forget  (ArenaCudaPin  *pin);

/* Tries to unregister all of it, and unmaps what nobody has. FALSE with the first error where something is left. */
gboolean arena_cuda_retire_drain   (GError       **error);

/* How many mappings there are and how many bytes of them are registered. Either may be NULL. */
void     arena_cuda_retire_measure (guint         *n,
                                    guint64       *bytes);

G_END_DECLS
