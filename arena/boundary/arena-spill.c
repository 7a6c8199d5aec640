/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boundary/arena-spill-private.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena-checked-private.h"
#include "base/arena-error-private.h"
#include "boundary/arena-spill-layout-private.h"
#include "memory/arena-memfd-private.h"
#include "memory/arena-spill-file-private.h"
#include "sync/arena-killpoint-private.h"
#include "sync/arena-socket-private.h"

/* The socket carries a message for each unit that announces one, in the same order, and it is sent first: so whoever has
 * the announcement finds the message without waiting, and reads the socket at no other time. A message whose unit was
 * given up after all would be taken for the next one's; its number tells.
 *
 * The file is mapped privately. Nobody can change its contents, so these are its own pages, which are copied where the
 * consumer writes to a view of them, as it may in an arena that isn't read-only. A shared mapping of a file sealed against
 * writing is refused by kernels before 6.7. */

gboolean
arena_spill_send (ArenaChannel  *channel,
                  guint64       *number,
                  guint64        unit,
                  int            fd,
                  guint64        fields_size,
                  GError       **error)
{
  const ArenaSpillMessage message = {
    .magic = ARENA_SPILL_MAGIC,
    .unit = unit,
    .number = *number,
    .fields_size = fields_size,
  };

  arena_kill_point (ARENA_KILL_BEFORE_SPILL_SEND);
  if (!arena_socket_send (channel->peer.socket, &message, sizeof message, &fd, 1, error))
    {
      /* Noted for every later call, as a death that a wait has seen. */
      arena_peer_look (&channel->peer);
      g_prefix_error (error, "unit %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT " bytes of which are outside of the arena: ",
                      unit, fields_size);
      return FALSE;
    }

  ++*number;
  arena_kill_point (ARENA_KILL_AFTER_SPILL_SEND);
  return TRUE;
}

static gboolean G_GNUC_PRINTF (3, 4)
refuse (const ArenaSlot  *slot,
        GError          **error,
        const char       *format,
        ...)
{
  g_autofree char *reason = NULL;
  va_list arguments;

  va_start (arguments, format);
  reason = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "The bytes of unit %" G_GUINT64_FORMAT " outside of the arena: %s",
               slot->unit, reason);
  return FALSE;
}

/* The next message, which must be there and be the one that @slot announces. */
static gboolean
receive (ArenaChannel       *channel,
         guint64            *number,
         const ArenaSlot    *slot,
         ArenaSpillMessage  *body,
         ArenaMessage       *message,
         GError            **error)
{
  g_autoptr(GError) local_error = NULL;

  if (!arena_socket_receive (channel->peer.socket, body, sizeof *body, message, &local_error))
    {
      /* Its descriptor could not be had: the message is gone all the same. */
      if (g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_NO_SPACE))
        ++*number;
      else if (!g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_PROTOCOL))
        return refuse (slot, error, "no message came (%s)", local_error->message);

      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  if (message->size != sizeof *body || body->magic != ARENA_SPILL_MAGIC)
    return refuse (slot, error, "another message of %" G_GSIZE_FORMAT " bytes", message->size);
  if (message->n_fds != 1)
    return refuse (slot, error, "%u file descriptors instead of 1", message->n_fds);
  if (body->unit != slot->unit || body->number != *number)
    return refuse (slot, error, "message %" G_GUINT64_FORMAT " for unit %" G_GUINT64_FORMAT " came instead of message %"
                   G_GUINT64_FORMAT, body->number, body->unit, *number);

  ++*number;
  return TRUE;
}

/* What the file must have: fields, then perhaps the envelope. */
static gboolean
measure (const ArenaSlot          *slot,
         const ArenaSpillMessage  *body,
         gboolean                  has_envelope,
         guint64                  *envelope_start,
         guint64                  *size,
         GError                  **error)
{
  *envelope_start = 0;
  *size = body->fields_size;
  if (!arena_checked_round_up (body->fields_size, ARENA_SPILL_ALIGNMENT, envelope_start) ||
      (has_envelope && !arena_checked_add (*envelope_start, slot->envelope_size, size)) || *size == 0 ||
      *size > ARENA_MAX_DATA_SIZE)
    return refuse (slot, error, "%" G_GUINT64_FORMAT " bytes of fields can't be", body->fields_size);

  return TRUE;
}

/* Whoever looks at a page that the sender never paid for would pay himself, or get SIGBUS where none is left. */
static gboolean
check_filled (const ArenaSlot  *slot,
              int               fd,
              guint64           size,
              GError          **error)
{
  struct stat info;

  if (fstat (fd, &info) == 0 && (guint64) info.st_blocks * 512 >= size)
    return TRUE;

  return refuse (slot, error, "a file of %" G_GUINT64_FORMAT " bytes with holes", size);
}

static gboolean
copy_envelope (const ArenaSlot  *slot,
               ArenaMapping     *mapping,
               guint64           start,
               guint8          **envelope,
               GError          **error)
{
  *envelope = g_try_malloc (slot->envelope_size);
  if (*envelope == NULL)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "no memory for the envelope of unit %" G_GUINT64_FORMAT
                   ", %u bytes", slot->unit, slot->envelope_size);
      return FALSE;
    }

  memcpy (*envelope, arena_mapping_get_data (mapping) + start, slot->envelope_size);
  return TRUE;
}

gboolean
arena_spill_receive (ArenaChannel     *channel,
                     guint64          *number,
                     const ArenaSlot  *slot,
                     GBytes          **fields,
                     guint8          **envelope,
                     GError          **error)
{
  const ArenaGeometry *geometry = &channel->geometry;
  gboolean has_envelope = slot->envelope_size > geometry->envelope_size;
  ArenaMappingFlags flags = geometry->read_only ? ARENA_MAPPING_READ_ONLY : ARENA_MAPPING_WRITABLE;
  g_auto(ArenaMessage) message = { 0 };
  g_autoptr(ArenaMapping) mapping = NULL;
  ArenaSpillMessage body;
  guint64 start, size;

  *fields = NULL;
  if (!receive (channel, number, slot, &body, &message, error) ||
      !measure (slot, &body, has_envelope, &start, &size, error) ||
      !arena_memfd_check (message.fds[0], size, arena_spill_file_seals (), "memory outside of the arena", error) ||
      !check_filled (slot, message.fds[0], size, error))
    return FALSE;

  mapping = arena_mapping_new (message.fds[0], (gsize) size, flags | ARENA_MAPPING_PRIVATE, error);
  if (mapping == NULL)
    return FALSE;

  arena_kill_point (ARENA_KILL_AFTER_SPILL_TAKE);
  if (has_envelope && !copy_envelope (slot, mapping, start, envelope, error))
    return FALSE;

  if (body.fields_size > 0)
    *fields = g_bytes_new_with_free_func (arena_mapping_get_data (mapping), (gsize) body.fields_size,
                                          (GDestroyNotify) arena_mapping_unref, arena_mapping_ref (mapping));
  return TRUE;
}

gboolean
arena_spill_discard (ArenaChannel     *channel,
                     guint64          *number,
                     const ArenaSlot  *slot,
                     GError          **error)
{
  g_auto(ArenaMessage) message = { 0 };
  g_autoptr(GError) local_error = NULL;
  ArenaSpillMessage body;

  /* A descriptor that could not be had need not be closed. */
  if (receive (channel, number, slot, &body, &message, &local_error) ||
      g_error_matches (local_error, ARENA_ERROR, ARENA_ERROR_NO_SPACE))
    return TRUE;

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}
