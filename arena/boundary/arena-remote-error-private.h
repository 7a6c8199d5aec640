/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "boundary/arena-remote-error.h"

G_BEGIN_DECLS

/* An ERROR descriptor's envelope: item and code, then the lengths of four strings, then the strings without terminators:
 * type, domain, message, traceback. A domain or traceback of length ARENA_REMOTE_ABSENT is none. */
typedef struct
{
  gint64  item;
  gint32  code; /* 0 without a domain */
  guint32 type_length;
  guint32 domain_length;
  guint32 message_length;
  guint32 traceback_length;
  guint32 reserved;
} ArenaRemoteErrorHead;

/* What is sent. */
typedef struct
{
  const char *type_name;
  const char *domain;    /* nullable */
  gint        code;
  const char *message;
  const char *traceback; /* nullable */
  gint64      item;
} ArenaRemoteFailure;

#define ARENA_REMOTE_ABSENT G_MAXUINT32

G_STATIC_ASSERT (sizeof (ArenaRemoteErrorHead) == 32);

/* Writes what fits of each string (whole UTF-8 characters, marked where cut) into @envelope; returns the bytes used.
 * An error must never fail for being long. @capacity >= 256. */
gsize             arena_remote_error_encode (guint8                   *envelope,
                                             gsize                     capacity,
                                             const ArenaRemoteFailure *failure);
/* PROTOCOL where the lengths don't fill the envelope exactly or a string isn't UTF-8. */
ArenaRemoteError *arena_remote_error_decode (const guint8             *envelope,
                                             gsize                     size,
                                             GError                  **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
