/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boundary/arena-remote-error.h"

G_BEGIN_DECLS

/* An ERROR descriptor's envelope: item, then the lengths of three strings, then the strings without terminators. A
 * traceback of length ARENA_REMOTE_ABSENT is none. */
typedef struct
{
  gint64  item;
  guint32 type_length;
  guint32 message_length;
  guint32 traceback_length;
  guint32 reserved;
} ArenaRemoteErrorHead;

#define ARENA_REMOTE_ABSENT G_MAXUINT32

G_STATIC_ASSERT (sizeof (ArenaRemoteErrorHead) == 24);

/* Writes what fits of each string (whole UTF-8 characters, marked where cut) into @envelope; returns the bytes used.
 * An error must never fail for being long. @capacity >= 256. */
gsize             arena_remote_error_encode (guint8       *envelope,
                                             gsize         capacity,
                                             const char   *type_name,
                                             const char   *message,
                                             const char   *traceback,
                                             gint64        item);
/* PROTOCOL where the lengths don't fill the envelope exactly or a string isn't UTF-8. */
ArenaRemoteError *arena_remote_error_decode (const guint8  *envelope,
                                             gsize          size,
                                             GError       **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
