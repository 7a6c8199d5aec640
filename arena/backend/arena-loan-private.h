/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "backend/arena-storage-private.h"

G_BEGIN_DECLS

/* A producer's buffers before and after commit. A GBytes from reserve() may outlive its unit; while it does, the
 * storage below it (pool: the segment, ring: the span from its unit's start) is not handed out again. One ArenaLoan per
 * unit and storage piece counts the GBytes alive over it; dropping the last one, on any thread, clears the mark
 * (seq_cst) and then wakes the own producer if it is armed for storage. */
typedef struct _ArenaLoan ArenaLoan;

ArenaLoan *arena_loan_new          (ArenaStorage *storage,
                                    ArenaMapping *data,
                                    guint64       position, /* pool: segment index, ring: the unit's start */
                                    guint64       unit);    /* for messages */
ArenaLoan *arena_loan_ref          (ArenaLoan    *self);
void       arena_loan_unref        (ArenaLoan    *self);
/* A writable view of the arena's data that counts as lent while it lives. @field is for messages. */
GBytes    *arena_loan_lend         (ArenaLoan    *self,
                                    gpointer      data,
                                    gsize         size,
                                    guint         field) G_GNUC_WARN_UNUSED_RESULT;
gboolean   arena_loan_is_lent      (ArenaLoan    *self); /* seq_cst */
guint64    arena_loan_get_position (ArenaLoan    *self);
/* "field 2 of unit 17 is still lent out" */
char      *arena_loan_describe     (ArenaLoan    *self);

G_END_DECLS
