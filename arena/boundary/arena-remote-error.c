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
 * raised, and of a [struct@GLib.Error] its domain and code. Immutable, for any thread.
 *
 * Since: 0.1
 */

struct _ArenaRemoteError
{
  char   *type_name;
  char   *message;
  char   *traceback; /* nullable */
  gint64  item;
  char   *domain;    /* nullable */
  gint    code;
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
arena_remote_error_encode (guint8                   *envelope,
                           gsize                     capacity,
                           const ArenaRemoteFailure *failure)
{
  ArenaRemoteErrorHead head = {
    .item = failure->item,
    .domain_length = ARENA_REMOTE_ABSENT,
    .traceback_length = ARENA_REMOTE_ABSENT,
  };
  guint8 *texts = envelope + sizeof head;
  gsize room = capacity - sizeof head;
  gsize used;

  /* Names are short by nature, the traceback is what people read: the message gets half of what is left. */
  head.type_length = put_text (texts, room / 4, failure->type_name);
  used = head.type_length;
  if (failure->domain != NULL)
    {
      head.code = failure->code;
      head.domain_length = put_text (texts + used, room / 4, failure->domain);
      used += head.domain_length;
    }
  head.message_length = put_text (texts + used, (room - used) / 2, failure->message);
  used += head.message_length;
  if (failure->traceback != NULL)
    {
      head.traceback_length = put_text (texts + used, room - used, failure->traceback);
      used += head.traceback_length;
    }

  memcpy (envelope, &head, sizeof head);
  return sizeof head + used;
}

/* Takes @length bytes at *offset; FALSE where they don't lie in @size or aren't UTF-8. */
static gboolean
get_text (const guint8  *envelope,
          gsize          size,
          gsize         *offset,
          guint32        length,
          char         **text)
{
  const char *start = (const char *) envelope + *offset;

  if (!arena_range_fits (*offset, length, size) || !g_utf8_validate_len (start, length, NULL))
    return FALSE;

  *offset += length;
  *text = g_strndup (start, length);
  return TRUE;
}

static gboolean
get_optional_text (const guint8  *envelope,
                   gsize          size,
                   gsize         *offset,
                   guint32        length,
                   char         **text)
{
  return length == ARENA_REMOTE_ABSENT || get_text (envelope, size, offset, length, text);
}

ArenaRemoteError *
arena_remote_error_decode (const guint8  *envelope,
                           gsize          size,
                           GError       **error)
{
  g_autoptr(ArenaRemoteError) self = g_new0 (ArenaRemoteError, 1);
  ArenaRemoteErrorHead head = { 0 };
  gsize offset = sizeof head;

  if (size >= sizeof head)
    {
      memcpy (&head, envelope, sizeof head);
      self->item = head.item;
      self->code = head.code;
      if (get_text (envelope, size, &offset, head.type_length, &self->type_name) &&
          get_optional_text (envelope, size, &offset, head.domain_length, &self->domain) &&
          get_text (envelope, size, &offset, head.message_length, &self->message) &&
          get_optional_text (envelope, size, &offset, head.traceback_length, &self->traceback) &&
          offset == size && self->item >= -1 && (self->domain != NULL || self->code == 0) && head.reserved == 0)
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
  copy->domain = g_strdup (self->domain);
  copy->code = self->code;
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
  g_free (self->domain);
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

/**
 * arena_remote_error_get_domain:
 * @self: a remote error
 *
 * Gets the domain of the [struct@GLib.Error] that the worker failed with, `g-io-error-quark` for example.
 *
 * Returns: (nullable): the domain, or `NULL` where the worker's failure wasn't one
 *
 * Since: 0.1
 */
const char *
arena_remote_error_get_domain (const ArenaRemoteError *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->domain;
}

/**
 * arena_remote_error_get_code:
 * @self: a remote error
 *
 * Gets the code of the [struct@GLib.Error] that the worker failed with.
 *
 * Returns: the code in its domain; 0 without a domain
 *
 * Since: 0.1
 */
gint
arena_remote_error_get_code (const ArenaRemoteError *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->code;
}
