/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-transfer.h"

G_BEGIN_DECLS

/* The one thread that may run it is the caller. INVALID_STATE. */
gboolean   arena_transfer_claim  (ArenaTransfer  *self,
                                  GError        **error);
/* What run() does, once it is claimed. */
GPtrArray *arena_transfer_run_claimed (ArenaTransfer  *self,
                                       GCancellable   *cancellable,
                                       GError        **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
