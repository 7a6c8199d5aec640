/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-quarantine.h"

G_BEGIN_DECLS

ArenaQuarantine *arena_quarantine_new (const char *reason,
                                       guint64     bytes,
                                       gint64      age) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
