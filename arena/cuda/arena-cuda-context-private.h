/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-call-private.h"
#include "cuda/arena-cuda-context.h"

G_BEGIN_DECLS

/* Constant once it is there, but for the last two; lives as long as the process. */
struct _ArenaCudaContext
{
  GObject                 parent_instance;
  const ArenaCudaRuntime *runtime; /* NULL: constructed by hand */
  int                     device;
  gboolean                can_register;
  gboolean                can_register_read_only;
  gboolean                page_locks; /* registering locks pages, where it doesn't only fill page tables */
  gboolean                has_pools;  /* cudaMallocAsync() */
  _Atomic guint64         consumer_stream; /* that reads what transfers return */
  _Atomic gpointer        work;       /* ArenaCudaDevice; NULL until it is needed */
};

/* A scope on the context's device. */
gboolean arena_cuda_context_enter (ArenaCudaContext  *self,
                                   ArenaCudaScope    *scope,
                                   GError           **error);

G_END_DECLS
