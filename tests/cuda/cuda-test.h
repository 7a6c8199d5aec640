/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "arena-test.h"
#include "cuda/arena-pinned-cache-private.h"
#include "cuda/arena-transfer.h"
#include "fake-cudart.h"

G_BEGIN_DECLS

/* What the scenarios share. Each begins with a double as new, and ends without a violation, without anything that waits or
 * is in quarantine, and with as much of everything at the double as it began with, but for streams and events, which are
 * kept for ever. */
void             cuda_test_add              (const char       *path,
                                             void            (*func) (void));
/* The double is told afresh; what was expected so far is forgotten. */
void             cuda_test_expect_violation (const char       *text);

ArenaCudaContext *cuda_test_get_context     (void);
ArenaCudaDevice *cuda_test_get_device       (void);
/* Pinned bytes, content undefined. */
GBytes          *cuda_test_take             (ArenaPinnedCache *cache,
                                             gsize             size) G_GNUC_WARN_UNUSED_RESULT;
ArenaPinnedFigures cuda_test_get_figures    (ArenaPinnedCache *cache);
/* Bytes with that pattern, in ordinary memory. */
GBytes          *cuda_test_make_bytes       (gsize             size,
                                             guint64           seed) G_GNUC_WARN_UNUSED_RESULT;
/* The same, and @freed is set when they die. */
GBytes          *cuda_test_watch_bytes      (gsize             size,
                                             guint64           seed,
                                             gboolean         *freed) G_GNUC_WARN_UNUSED_RESULT;
/* A transfer of up to three; NULL ends them. Takes no reference of theirs. */
ArenaTransfer   *cuda_test_transfer_new     (GBytes           *a,
                                             GBytes           *b,
                                             GBytes           *c) G_GNUC_WARN_UNUSED_RESULT;
/* Runs it, drops it, and it must work. */
GPtrArray       *cuda_test_run              (ArenaTransfer    *transfer) G_GNUC_WARN_UNUSED_RESULT;
GPtrArray       *cuda_test_enqueue          (ArenaTransfer    *transfer) G_GNUC_WARN_UNUSED_RESULT;
void             cuda_test_check_buffer     (GPtrArray        *buffers,
                                             guint             index,
                                             gsize             size,
                                             guint64           seed);
/* Asserts what a device's memory has. */
void             cuda_test_check_device     (gconstpointer     pointer,
                                             gsize             size,
                                             guint64           seed);
/* The @n-th call (from 0) of @function since the log was cleared. */
ArenaFakeEntry   cuda_test_get_call         (const char       *function,
                                             guint             n);
void             cuda_test_assert_kept      (guint             n_waiting,
                                             guint             n_quarantined);
void             cuda_test_sweep            (void);
/* A stream of somebody else's. */
CudaStream       cuda_test_stream_new       (void);

G_END_DECLS
