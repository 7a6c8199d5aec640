/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/arena-error.h"

G_BEGIN_DECLS

/* Sets `<operation>: <object>: <strerror>`. ENOMEM, ENOSPC, EMFILE, ENFILE and EDQUOT become NO_SPACE,
 * everything else @fallback. Save errno before anything else can change it. */
void arena_set_error_errno (GError     **error,
                            ArenaError   fallback,
                            int          saved_errno,
                            const char  *operation,
                            const char  *object);

G_END_DECLS
