/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-fence-private.h"

G_BEGIN_DECLS

/* What can't be given up yet, because a device may still use it. It is asked for again whenever somebody uses the device.
 * As soon as anything goes wrong with that, it is in quarantine: counted, reported, and kept until it is proven. */

/* Gives up @data; FALSE keeps it for the next time. Inside a scope of the device. */
typedef gboolean (*ArenaCudaRelease) (gpointer         data,
                                      ArenaCudaScope  *scope,
                                      GError         **error);

typedef struct
{
  guint   n_entries;
  guint64 bytes;
} ArenaCudaKept;

/* Takes @fence, which may be NULL if there is nothing to prove, and @reason, which is NULL unless something went wrong
 * already. What is proven at once is given up at once. Any thread. */
void     arena_cuda_device_retire  (ArenaCudaDevice   *self,
                                    ArenaCudaScope    *scope,
                                    ArenaCudaFence    *fence,
                                    gsize              bytes,
                                    ArenaCudaRelease   release,
                                    gpointer           data,
                                    GError            *reason);
/* For where no scope can be entered: nothing is asked. */
void     arena_cuda_device_keep    (ArenaCudaDevice   *self,
                                    const guint64     *streams,
                                    gsize              n_streams,
                                    gsize              bytes,
                                    ArenaCudaRelease   release,
                                    gpointer           data,
                                    GError            *reason);
/* Gives up what is proven by now, unless another thread is at it. */
void     arena_cuda_device_sweep   (ArenaCudaDevice   *self,
                                    ArenaCudaScope    *scope);
/* The same for the caller to see: TRUE when nothing is in quarantine any more. */
gboolean arena_cuda_device_retry   (ArenaCudaDevice   *self,
                                    GError           **error);
/* In a child, and without a device, there is nothing. */
void     arena_cuda_device_count   (ArenaCudaDevice   *self,
                                    ArenaCudaKept     *waiting,
                                    ArenaCudaKept     *quarantined);
/* ArenaQuarantine of each entry in quarantine, the oldest first. */
GPtrArray *arena_cuda_device_list (ArenaCudaDevice   *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
