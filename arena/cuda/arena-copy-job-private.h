/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-device-memory-private.h"

G_BEGIN_DECLS

/* Copies of one transfer, with all that they use, inside a scope of the device. However it goes, a job ends in one of the
 * three ways below, and nothing that a copy uses is given up before it is proven that the copy has ended. */
typedef struct _ArenaCopyJob ArenaCopyJob;

/* On the calling thread's stream. */
ArenaCopyJob *arena_copy_job_new      (ArenaCudaDevice   *device,
                                       ArenaCudaScope    *scope,
                                       GError           **error);
/* Enqueues a copy of @source, field @index of the transfer. After a failure there must be no other. */
gboolean      arena_copy_job_add      (ArenaCopyJob      *self,
                                       ArenaCudaScope    *scope,
                                       GBytes            *source,
                                       guint              index,
                                       GError           **error);

/* Ends it: waits for the copies and returns the memories, in order. */
GPtrArray    *arena_copy_job_finish   (ArenaCopyJob      *self,
                                       ArenaCudaScope    *scope,
                                       GError           **error);
/* Ends it: doesn't wait; each memory says itself when it is filled. */
GPtrArray    *arena_copy_job_detach   (ArenaCopyJob      *self,
                                       ArenaCudaScope    *scope,
                                       GError           **error);
/* Ends it: waits for the copies and gives up everything. What goes wrong then is appended to @error. */
void          arena_copy_job_drain    (ArenaCopyJob      *self,
                                       ArenaCudaScope    *scope,
                                       GError           **error);

G_END_DECLS
