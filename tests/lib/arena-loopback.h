/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-unit-builder-private.h"
#include "unit/arena-unit-private.h"

G_BEGIN_DECLS

/* A unit builder and what it writes to, without a process, a queue or shared memory: a writer over one heap buffer and
 * a sink that keeps what was published. Everything is counted, and everything can be told to fail. */

#define ARENA_TYPE_LOOPBACK_WRITER (arena_loopback_writer_get_type ())
G_DECLARE_FINAL_TYPE (ArenaLoopbackWriter, arena_loopback_writer, ARENA, LOOPBACK_WRITER, GObject)

struct _ArenaLoopbackWriter
{
  GObject parent_instance;

  guint8 *data;
  gsize capacity;   /* bytes of a unit */
  gsize start;      /* where units begin in data: a ring's are anywhere */
  gsize end;        /* of the open unit's fields */
  gboolean open;
  guint64 span;     /* of the last commit */

  guint n_begun, n_writes, n_committed, n_aborted;

  int fail_write;   /* code + 1 of the ARENA_ERROR that the next write or reserve sets */
  int fail_commit;
  int shift;        /* added to the next offset */
};

typedef struct
{
  ArenaLoopbackWriter *writer; /* NULL: a capacity of 0 */
  ArenaUnitBuilder *builder;
  guint8 *envelope;            /* the slot's area */
  gsize envelope_size;
  guint64 n_opened;

  guint n_acquired, n_published, n_abandoned;
  gsize acquired_size;

  GBytes *outside;             /* what was sent for the open unit, and since the last publish */
  int outside_fd;              /* a duplicate of the file, which is sealed by the publish; -1 without */
  guint n_sent;

  /* of the last publish */
  gsize published_size;
  guint64 span, offset, size;
  guint64 spill_size;          /* of the fields in outside */

  GError *fail_acquire;        /* consumed by the next acquire */
  GError *fail_publish;        /* by the next publish */
  GError *fail_check;          /* stays */
  GError *fail_send;           /* by the next send */
} ArenaLoopback;

ArenaLoopback *arena_loopback_new   (gsize          capacity,
                                     gsize          envelope_size,
                                     guint64        threshold) G_GNUC_WARN_UNUSED_RESULT;
/* The same, but fields that don't fit go outside, as does an envelope longer than its slot. */
ArenaLoopback *arena_loopback_new_spilling (gsize   capacity,
                                            gsize   envelope_size,
                                            guint64 threshold) G_GNUC_WARN_UNUSED_RESULT;
void           arena_loopback_free  (ArenaLoopback *self);
/* Opens the next unit. */
void           arena_loopback_open  (ArenaLoopback *self);
/* A copy of the published envelope. */
guint8        *arena_loopback_copy  (ArenaLoopback *self) G_GNUC_WARN_UNUSED_RESULT;
/* Commits the open unit and returns one over copies of what was published. */
ArenaUnit     *arena_loopback_send  (ArenaLoopback *self) G_GNUC_WARN_UNUSED_RESULT;
/* Appends a one-dimensional field of bytes in the pattern of @seed; asserts success, returns its index. */
guint          arena_loopback_bytes (ArenaLoopback *self,
                                     const char    *name,
                                     gsize          size,
                                     guint64        seed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaLoopback, arena_loopback_free)

G_END_DECLS
