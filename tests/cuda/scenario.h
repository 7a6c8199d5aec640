/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "arena-ends.h"
#include "arena-test.h"
#include "backend/arena-reader-private.h"
#include "cuda/arena-cuda-context-private.h"
#include "fake-cudart.h"

G_BEGIN_DECLS

/* What the scenarios of pinned memory share. Each runs in a process of its own, forked before anyone has used CUDA, because
 * a process initialises it once and what is lost stays lost. */

#define SCENARIO_PAGE 4096u

/* @func must leave no violation, nothing alive in CUDA and no memory of an arena. */
void            scenario_add            (const char       *path,
                                         void            (*func) (void));
/* For those where memory must stay: @func must leave no violation. */
void            scenario_add_lasting    (const char       *path,
                                         void            (*func) (void));

/* A pinned pool of @count segments of one page each, not yet opened. @property (NULL: none) is set, too. */
ArenaBackend   *scenario_pool_new       (guint             count,
                                         const char       *property,
                                         int               value) G_GNUC_WARN_UNUSED_RESULT;
/* Opens its reader, which pins: FALSE with the error. Then its writer. */
gboolean        scenario_open           (ArenaEnds        *ends,
                                         ArenaBackend     *backend,
                                         GError          **error);
/* A pool as above with both ends open. */
void            scenario_open_pool      (ArenaEnds        *ends,
                                         guint             count);
/* Closes and drops all; closing must succeed. */
void            scenario_close          (ArenaEnds        *ends);

/* The @n-th (from 0) call of @function in the log, which there must be. */
ArenaFakeEntry  scenario_get_call       (const char       *function,
                                         guint             n);
/* All that the log has of @function. */
guint           scenario_count          (const char       *function);
/* How many ranges and bytes are registered. */
void            scenario_assert_pinned  (guint             n,
                                         guint64           bytes);
guint8         *scenario_get_segment    (const ArenaEnds  *ends,
                                         guint             i);
/* Unmapped ranges whose memory had been registered. */
guint           scenario_count_unmapped (void);

G_END_DECLS
