/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-spill-file-private.h"

#include "base/arena-checked-private.h"
#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "memory/arena-limits-private.h"
#include "memory/arena-memfd-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* It is written by write() and never mapped here: the seal against writing can't be set on a file that anybody has
 * mapped writable, and write() needs no page to be zeroed before it is filled. */

#define FILE_NAME "arena-spill"
#define WRITE_MAX (G_GUINT64_CONSTANT (1) << 30) /* one write() takes a little less than 2 GiB */

void
arena_spill_file_init (ArenaSpillFile *self)
{
  *self = (ArenaSpillFile) { .fd = -1 };
}

void
arena_spill_file_clear (ArenaSpillFile *self)
{
  g_clear_fd (&self->fd, NULL);
  self->end = 0;
}

guint
arena_spill_file_seals (void)
{
  return F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
}

/* Where the next piece begins, once the limits allow its end. */
static gboolean
find_place (ArenaSpillFile  *self,
            gsize            size,
            guint64         *offset,
            guint64         *end,
            GError         **error)
{
  if (!arena_checked_round_up (self->end, ARENA_SPILL_ALIGNMENT, offset) || !arena_checked_add (*offset, size, end) ||
      *end > G_MAXINT64)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE,
                   "%" G_GSIZE_FORMAT " bytes after %" G_GUINT64_FORMAT " are more than a file can have", size, self->end);
      return FALSE;
    }

  if (!arena_limits_check_file_size (*end, error) || !arena_limits_check (size, NULL, error))
    return FALSE;

  if (self->fd < 0)
    self->fd = arena_memfd_new_empty (FILE_NAME, error);

  return self->fd >= 0;
}

void
arena_spill_file_cut (ArenaSpillFile *self,
                      guint64         end)
{
  self->end = end;
  if (end == 0)
    arena_spill_file_clear (self);
  else
    (void) !ftruncate (self->fd, (off_t) end);
}

gboolean
arena_spill_file_fill (ArenaSpillFile  *self,
                       guint64          offset,
                       gconstpointer    data,
                       gsize            size,
                       GError         **error)
{
  gsize done = 0;

  while (done < size)
    {
      gssize written = pwrite (self->fd, (const guint8 *) data + done, MIN (size - done, WRITE_MAX),
                               (off_t) (offset + done));
      int saved_errno = errno;

      if (written > 0)
        done += (gsize) written;
      else if (written == 0 || saved_errno != EINTR)
        {
          g_autofree char *object = g_strdup_printf ("%s, %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " bytes", FILE_NAME,
                                                     done, size);

          arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, written == 0 ? ENOSPC : saved_errno, "write", object);
          return FALSE;
        }
    }

  return TRUE;
}

gboolean
arena_spill_file_append (ArenaSpillFile  *self,
                         gconstpointer    data,
                         gsize            size,
                         guint64         *offset,
                         GError         **error)
{
  guint64 end;

  if (!find_place (self, size, offset, &end, error))
    return FALSE;

  if (!arena_spill_file_fill (self, *offset, data, size, error))
    {
      arena_spill_file_cut (self, self->end);
      return FALSE;
    }

  self->end = end;
  return TRUE;
}

gboolean
arena_spill_file_reserve (ArenaSpillFile  *self,
                          gsize            size,
                          guint64         *offset,
                          GError         **error)
{
  guint64 end;

  if (!find_place (self, size, offset, &end, error))
    return FALSE;

  if (!arena_memfd_reserve (self->fd, FILE_NAME, *offset, end, NULL, error))
    {
      arena_spill_file_cut (self, self->end);
      return FALSE;
    }

  self->end = end;
  return TRUE;
}

gboolean
arena_spill_file_seal (ArenaSpillFile  *self,
                       GError         **error)
{
  return arena_memfd_seal (self->fd, arena_spill_file_seals (), error);
}
