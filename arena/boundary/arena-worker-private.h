/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boundary/arena-worker.h"

G_BEGIN_DECLS

/* arena-worker-async.c */
void arena_worker_async_initable_iface_init (GAsyncInitableIface *iface);

G_END_DECLS
