/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-remote-error-private.h"

#include <string.h>

#include "base/arena-checked-private.h"
#include "base/arena-error-private.h"

/**
 * ArenaRemoteError:
 *
 * What a worker reported when it failed: more than fits a [struct@GLib.Error].
 *
 * [method@Arena.Consumer.next] fails with [error@Arena.Error.REMOTE] and the worker's message;
 * [method@Arena.Consumer.dup_remote_error] then gives the exception's type, text, traceback and the item at which it was
 * raised. Immutable; any thread.
 *
 * Since: 0.1
 */

struct _ArenaRemoteError
{
  char   *type_name;
  char   *message;
  char   *traceback; /* nullable */
  gint64  item;
};

G_DEFINE_BOXED_TYPE (ArenaRemoteError, arena_remote_error, arena_remote_error_copy, arena_remote_error_free)

#define CUT_MARK " [cut]"

/* How many bytes of @text fit @room without splitting a character; *cut is set where that isn't all. */
static gsize
fitting_length (const char *text,
                gsize       room,
                gboolean   *cut)
{
  gsize length = strlen (text);

  *cut = length > room;
  if (!*cut)
    return length;

  length = room > strlen (CUT_MARK) ? room - strlen (CUT_MARK) : 0;
  while (length > 0 && ((guchar) text[length] & 0xc0) == 0x80)
    length--;
  return length;
}

static guint32
put_text (guint8     *to,
          gsize       room,
          const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  gboolean cut;
  gsize length = fitting_length (valid, room, &cut);

  memcpy (to, valid, length);
  if (!cut || room <= strlen (CUT_MARK))
    return (guint32) length;

  memcpy (to + length, CUT_MARK, strlen (CUT_MARK));
  return (guint32) (length + strlen (CUT_MARK));
}

gsize
arena_remote_error_encode (guint8     *envelope,
                           gsize       capacity,
                           const char *type_name,
                           const char *message,
                           const char *traceback,
                           gint64      item)
{
  ArenaRemoteErrorHead head = { .item = item, .traceback_length = ARENA_REMOTE_ABSENT };
  gsize room = capacity - sizeof head;
  gsize used = 0;

  /* The type is short by nature, the traceback is what people read: the message gets half of what is left. */
  head.type_length = put_text (envelope + sizeof head, room / 4, type_name);
  used += head.type_length;
  head.message_length = put_text (envelope + sizeof head + used, (room - used) / 2, message);
  used += head.message_length;
  if (traceback != NULL)
    {
      head.traceback_length = put_text (envelope + sizeof head + used, room - used, traceback);
      used += head.traceback_length;
    }

  memcpy (envelope, &head, sizeof head);
  return sizeof head + used;
}

/* Takes @length bytes at *offset; NULL where they don't lie in @size or aren't UTF-8. */
static char *
get_text (const guint8 *envelope,
          gsize         size,
          gsize        *offset,
          guint32       length)
{
  const char *text;

  if (!arena_range_fits (*offset, length, size))
    return NULL;

  text = (const char *) envelope + *offset;
  if (!g_utf8_validate_len (text, length, NULL))
    return NULL;

  *offset += length;
  return g_strndup (text, length);
}

ArenaRemoteError *
arena_remote_error_decode (const guint8  *envelope,
                           gsize          size,
                           GError       **error)
{
  g_autoptr(ArenaRemoteError) self = g_new0 (ArenaRemoteError, 1);
  ArenaRemoteErrorHead head = { 0 };
  gsize offset = sizeof head;
  gboolean has_traceback;

  if (size >= sizeof head)
    {
      memcpy (&head, envelope, sizeof head);
      has_traceback = head.traceback_length != ARENA_REMOTE_ABSENT;
      self->item = head.item;
      self->type_name = get_text (envelope, size, &offset, head.type_length);
      self->message = get_text (envelope, size, &offset, head.message_length);
      self->traceback = has_traceback ? get_text (envelope, size, &offset, head.traceback_length) : NULL;

      if (self->type_name != NULL && self->message != NULL && (self->traceback != NULL || !has_traceback) &&
          offset == size && self->item >= -1)
        return g_steal_pointer (&self);
    }

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "The producer sent an error record of %" G_GSIZE_FORMAT
               " bytes that can't be read", size);
  return NULL;
}

/**
 * arena_remote_error_copy:
 * @self: a remote error
 *
 * Copies a remote error.
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
ArenaRemoteError *
arena_remote_error_copy (const ArenaRemoteError *self)
{
  ArenaRemoteError *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_new0 (ArenaRemoteError, 1);
  copy->type_name = g_strdup (self->type_name);
  copy->message = g_strdup (self->message);
  copy->traceback = g_strdup (self->traceback);
  copy->item = self->item;
  return copy;
}

/**
 * arena_remote_error_free:
 * @self: (transfer full): a remote error
 *
 * Frees a remote error.
 *
 * Since: 0.1
 */
void
arena_remote_error_free (ArenaRemoteError *self)
{
  if (self == NULL)
    return;

  g_free (self->type_name);
  g_free (self->message);
  g_free (self->traceback);
  g_free (self);
}

/**
 * arena_remote_error_get_type_name:
 * @self: a remote error
 *
 * Gets the name of the exception's type in the worker's language.
 *
 * Returns: the type's name
 *
 * Since: 0.1
 */
const char *
arena_remote_error_get_type_name (const ArenaRemoteError *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->type_name;
}

/**
 * arena_remote_error_get_message:
 * @self: a remote error
 *
 * Gets what the worker said, cut (and marked so) where it was longer than the envelope allows.
 *
 * Returns: the message
 *
 * Since: 0.1
 */
const char *
arena_remote_error_get_message (const ArenaRemoteError *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->message;
}

/**
 * arena_remote_error_get_traceback:
 * @self: a remote error
 *
 * Gets the worker's traceback as text.
 *
 * Returns: (nullable): the traceback, or `NULL` where the worker gave none
 *
 * Since: 0.1
 */
const char *
arena_remote_error_get_traceback (const ArenaRemoteError *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->traceback;
}

/**
 * arena_remote_error_get_item:
 * @self: a remote error
 *
 * Gets the index, in its iteration, of the item at which the worker failed.
 *
 * Returns: the index from 0, or -1 where the failure belongs to no item
 *
 * Since: 0.1
 */
gint64
arena_remote_error_get_item (const ArenaRemoteError *self)
{
  g_return_val_if_fail (self != NULL, -1);

  return self->item;
}
