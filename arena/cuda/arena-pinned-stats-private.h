/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-pinned-cache-private.h"
#include "cuda/arena-pinned-stats.h"

G_BEGIN_DECLS

ArenaPinnedStats *arena_pinned_stats_new (const ArenaPinnedFigures *figures) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
