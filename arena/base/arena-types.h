/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include <gio/gio.h>

#include "base/arena-version-macros.h"

G_BEGIN_DECLS


G_END_DECLS
